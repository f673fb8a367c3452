import type { Db } from '../db/client.ts'
import type { Uuid } from '../lib/ids.ts'
import { consistencyPath, inclusionPath, type ReadNode } from '../lib/merkle.ts'
import { nodesOf, readNearSealedRows, readNewestSeal, readSealNodes, type SealEnd, treeOfLines } from './seal.ts'

export type LogHead = { size: number; root: Buffer; sealedAt: Date }

/** `through`: last row of the seal that covers this row. `after`: last row of the previous seal, or null for the first seal. */
type SealedRow = {
  id: Uuid
  sequence: bigint | null
  rowsRoot: Buffer | null
  through: SealEnd
  after: SealEnd | null
}

/** Runs a calculation twice: first to collect the nodes that it needs, then with those nodes. */
const overNodes = async <T>(db: Db, calculate: (node: ReadNode) => T): Promise<T> => {
  const nodes = await readSealNodes(db, nodesOf(calculate))
  const known = new Map(nodes.map(({ level, place, hash }) => [`${level}/${place}`, hash]))
  return calculate((level, place) => {
    const hash = known.get(`${level}/${place}`)
    if (!hash) throw new Error(`node ${level}/${place} of the sealed log is missing`)
    return hash
  })
}

const proveSeal = async (db: Db, { through, after }: SealedRow, seal: number, size: number) => {
  const [lines, sealPath] = await Promise.all([
    readNearSealedRows(db, after ?? undefined, through),
    overNodes(db, (node) => inclusionPath(seal, size, node)),
  ])
  return { lines, tree: treeOfLines(lines.map(({ line }) => line)), sealPath }
}
type SealProof = Awaited<ReturnType<typeof proveSeal>>

/** `line` is leaf `index` of `rows` under the seal's root. That root is leaf `seal` under the head's root. */
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

/** Maximum number of cached seals, each with its rows. Neighbouring rows share a seal, so a few seals are enough. */
const maxCachedSeals = 256

/** Proves rows in the given order. Null for a row that is not sealed yet. Each seal is read once for all requested rows. */
export const createProver = (db: Db, reading: Promise<LogHead | null>) => {
  const seals = new Map<number, Promise<SealProof>>()
  return async (rows: readonly SealedRow[]): Promise<(RowProof | null)[]> => {
    const head = await reading
    return Promise.all(
      rows.map(async (row) => {
        const { rowsRoot } = row
        if (head === null || row.sequence === null || rowsRoot === null || row.sequence > head.size) return null
        const seal = Number(row.sequence) - 1
        const proof = seals.get(seal) ?? proveSeal(db, row, seal, head.size)
        seals.set(seal, proof)
        const [oldest] = seals.keys()
        if (seals.size > maxCachedSeals && oldest !== undefined) seals.delete(oldest)
        return proveRow(row, seal, rowsRoot, await proof)
      }),
    )
  }
}

/** Proves that the log of `from` seals is a prefix of the log of `to` seals. 0 < from ≤ to. */
export const proveConsistency = (db: Db, from: number, to: number): Promise<Uint8Array[]> =>
  overNodes(db, (node) => consistencyPath(from, to, node))
