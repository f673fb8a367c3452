import type { Db } from '../db/client.ts'
import type { Uuid } from '../lib/ids.ts'
import { consistencyPath, inclusionPath, type ReadNode, treeOf } from '../lib/merkle.ts'
import { leafOfLine, nodesOf, readNearSealedRows, readNewestSeal, readSealNodes, type SealPlace } from './seal.ts'

/** The sealed log at a moment: how many seals, and the root over them. */
export type LogHead = { size: number; root: Buffer; sealedAt: Date }

/** An audit row and the seal that covers it. `through`: the seal's last row. `after`: the one of the seal before it; null for the first. */
export type SealedRow = {
  id: Uuid
  sequence: bigint | null
  rowsRoot: Buffer | null
  through: SealPlace
  after: SealPlace | null
}

/** Runs a calculation over the stored nodes: once to learn which it needs, then with what was read of them. */
const overNodes = async <T>(db: Db, calculate: (node: ReadNode) => T): Promise<T> => {
  const nodes = await readSealNodes(db, nodesOf(calculate))
  const known = new Map(nodes.map(({ level, place, hash }) => [`${level}/${place}`, hash]))
  return calculate((level, place) => {
    const hash = known.get(`${level}/${place}`)
    if (!hash) throw new Error(`node ${level}/${place} of the sealed log is missing`)
    return hash
  })
}

/** What all rows of one seal share in their proofs. */
const proveSeal = async (db: Db, { through, after }: SealedRow, seal: number, size: number) => {
  const [lines, sealPath] = await Promise.all([
    readNearSealedRows(db, after ?? undefined, through),
    overNodes(db, (node) => inclusionPath(seal, size, node)),
  ])
  return { lines, tree: treeOf(lines.map(({ line }) => leafOfLine(line))), sealPath }
}
type SealProof = Awaited<ReturnType<typeof proveSeal>>

/** That a row is in the log: `line` is leaf `index` of `rows` under the seal's root, which is leaf `seal` under the head's root. */
const proveRow = ({ id }: SealedRow, seal: number, rowsRoot: Buffer, { lines, tree, sealPath }: SealProof) => {
  const index = lines.findIndex((each) => each.id === id)
  const line = lines[index]?.line
  if (line === undefined) throw new Error(`an audit row is not among those of seal ${seal + 1}`)
  return { line, index, rows: lines.length, path: inclusionPath(index, lines.length, tree), seal, rowsRoot, sealPath }
}
export type RowProof = ReturnType<typeof proveRow>

export const readLogHead = async (db: Db): Promise<LogHead | null> => {
  const seal = await readNewestSeal(db)
  return seal ? { size: seal.sequence, root: seal.digest, sealedAt: seal.sealedAt } : null
}

/** The proof of each row under the head, in the same order; null where the row is not sealed yet. Each seal is read once. */
export const proveRows = (db: Db, rows: readonly SealedRow[], head: LogHead | null): Promise<(RowProof | null)[]> => {
  const seals = new Map<number, Promise<SealProof>>()
  return Promise.all(
    rows.map(async (row) => {
      const { rowsRoot } = row
      if (head === null || row.sequence === null || rowsRoot === null || row.sequence > head.size) return null
      const seal = Number(row.sequence) - 1
      const proof = seals.get(seal) ?? proveSeal(db, row, seal, head.size)
      seals.set(seal, proof)
      return proveRow(row, seal, rowsRoot, await proof)
    }),
  )
}

/** That the log of `from` seals is the beginning of the one of `to`. 0 < from ≤ to. */
export const proveConsistency = (db: Db, from: number, to: number): Promise<Uint8Array[]> =>
  overNodes(db, (node) => consistencyPath(from, to, node))
