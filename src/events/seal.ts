import { hash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Derivations } from '../auth/vault.ts'
import { type Database, type Db, inTx, statement, type Tx } from '../db/client.ts'
import { insertRows } from '../db/prepare-write.ts'
import { auditSealNodes, auditSeals } from '../db/tables/events.ts'
import { daysAfter } from '../lib/clock.ts'
import { firstIdAt, timeOfId, type Uuid } from '../lib/ids.ts'
import { chunksOf, fieldsOf } from '../lib/lists.ts'
import { leafHash, nodeHash, type ReadNode, rootOf, treeOf } from '../lib/merkle.ts'

// A Merkle tree (RFC 6962) in two levels: each seal has a root over its rows and is a leaf of the tree over all seals. A proof
// for millions of rows has about twenty hashes. Only the upper tree's nodes are stored; a proof reads its seal's rows again.

/** The purpose under which the MAC key of seals is derived from TOKEN_SECRETS. */
export const sealPurpose = 'audit.seal'

/** A node over 2^level seals, starting with seal `place · 2^level` (counted from 0). */
type SealNode = { level: number; place: number; hash: Uint8Array }

const pair = Buffer.alloc(1 + 32 + 32, 1)
const hashPair = (left: Uint8Array, right: Uint8Array): Buffer => {
  pair.set(left, 1)
  pair.set(right, 1 + 32)
  return hash('sha256', pair, 'buffer')
}

const leafOfLine = (line: string): Buffer => hash('sha256', `\0${line}`, 'buffer')

export const treeOfLines = (lines: readonly string[]): ReadNode => treeOf(lines.map(leafOfLine), hashPair)

/** The root over rows, given by the hashes of their lines. Uses Node's hash function, which is three times as fast. */
export const rootOfRows = (leaves: readonly Uint8Array[]): Buffer => Buffer.from(rootOf(leaves.length, treeOf(leaves, hashPair)))

/** The nodes that a calculation reads, in order. */
export const nodesOf = (calculate: (node: ReadNode) => unknown): Omit<SealNode, 'hash'>[] => {
  const read: Omit<SealNode, 'hash'>[] = []
  calculate((level, place) => {
    read.push({ level, place })
    return leafHash('')
  })
  return read
}

/** The position of a seal's last row in commit order. */
export type SealEnd = { transaction: string; id: string }
/** `rowsRoot`: root over the seal's rows. `digest`: root over all seals up to this one. Sequences start at 1. */
export type Seal = SealEnd & {
  sequence: number
  rows: number
  rowsRoot: Buffer
  digest: Buffer
  hash: Buffer
  keyId: string
  sealedAt: Date
}

const startOfLog: SealEnd = { transaction: '0', id: '00000000-0000-0000-0000-000000000000' }
const rowsPerRun = 500
/** Small, because a proof of one row reads and hashes all rows of its seal. */
const rowsPerSeal = 64
/** Number of the advisory lock for sealing, so that only one process seals at a time. Nothing else uses it. */
const sealLock = 7_241_991

/** A row commits seconds after its id was created, up to clock differences. The rows of a seal are therefore close together. */
const maxIdAgeDays = 40

/**
 * A sealed row: its columns as a JSON array of texts. Private values (the change, IP address, browser) appear only as a hash,
 * salted with the random request id, so that a proof does not reveal them.
 */
const sealedLineSql = `json_build_array(id, transaction::text, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), action, account_id,
  credential_kind, credential_id, grant_id, workspace_id, subject_type, subject_id,
  encode(sha256(convert_to(json_build_array(before::text, after::text, encode(inputs, 'hex'), ip, user_agent, request_id)::text, 'UTF8')), 'hex'))::text as line`

const unsealed = statement('audit.unsealed')`
  select id, transaction::text, ${sealedLineSql} from audit_log
   where (transaction, id) > ($1::xid8, $2::uuid) and transaction < (select events_settled_before()) and id >= least($4, first_id_at(now() - interval '${maxIdAgeDays} days'))
   order by audit_log.transaction, audit_log.id limit $3`
/** Hashed in the database, because a row has 600 bytes and its hash 32. The common rows are sorted once for all seals. */
const sealedLeaves = statement('audit.sealed_leaves')`
  with covered as materialized (
    select transaction, id, sha256('\\x00'::bytea || convert_to(line, 'UTF8')) as leaf
     from (select transaction, id, ${sealedLineSql} from audit_log where (transaction, id) > ($1::xid8, $2::uuid) and (transaction, id) <= ($3::xid8, $4::uuid)
       order by audit_log.transaction, audit_log.id limit $5) as r)
  select (select string_agg(leaf, '' order by c.transaction, c.id) from covered c
     where (c.transaction, c.id) > (s.after_transaction, s.after_id) and (c.transaction, c.id) <= (s.transaction, s.id)) as leaves
   from unnest($6::xid8[], $7::uuid[], $8::xid8[], $9::uuid[]) with ordinality as s(after_transaction, after_id, transaction, id, place) order by s.place`
const sealedNear = statement('audit.sealed_near')`
  select id, ${sealedLineSql} from audit_log
   where (transaction, id) > ($1::xid8, $2::uuid) and (transaction, id) <= ($3::xid8, $4::uuid) and id >= $5 and id < $6
   order by audit_log.transaction, audit_log.id`
const sealColumns = `sequence::int, through_transaction::text as transaction, through_id as id, rows, rows_root as "rowsRoot", digest, hash,
  key_id as "keyId", sealed_at as "sealedAt"`
const newestSeal = statement('audit.newest_seal', 'record')`
  select ${sealColumns} from audit_seals order by audit_seals.sequence desc limit 1`
const sealsAfter = statement('audit.seals_after')`
  select ${sealColumns} from audit_seals where sequence > $1 order by audit_seals.sequence limit $2`
const readNodes = statement('audit.read_seal_nodes', 'record')`
  select n.level, n.place::int, n.hash from unnest($1::int[], $2::bigint[]) with ordinality as w(level, place, at)
   join audit_seal_nodes n on n.level = w.level and n.place = w.place order by w.at`

/** Returns nodes in the order requested. Missing nodes are omitted. */
export const readSealNodes = (db: Db, wanted: readonly Omit<SealNode, 'hash'>[]): Promise<SealNode[]> =>
  db.query(readNodes, fieldsOf(wanted, 'level', 'place'))

/** The root over all seals, and the nodes that an added seal completes. */
export type Grown = { digest: Buffer; completed: SealNode[] }

/** Returns a function that appends a seal, given by the root over its rows, to the tree over `size` seals. */
export const readSealTree = async (db: Db, size: number): Promise<(root: Uint8Array) => Grown> => {
  // The largest complete subtrees from left to right, which together form the whole tree.
  const peaks = await readSealNodes(
    db,
    nodesOf((node) => rootOf(size, node)),
  )
  let place = size
  return (root) => {
    let node: SealNode = { level: 0, place, hash: leafHash(root) }
    const completed = [node]
    place += 1
    for (let last = peaks.at(-1); last?.level === node.level; last = peaks.at(-1)) {
      peaks.pop()
      node = { level: node.level + 1, place: Math.floor(node.place / 2), hash: nodeHash(last.hash, node.hash) }
      completed.push(node)
    }
    peaks.push(node)
    const digest = peaks.map(({ hash }) => hash).reduceRight((right, left) => nodeHash(left, right))
    return { digest: Buffer.from(digest), completed }
  }
}

export const readNewestSeal = async (db: Db): Promise<Seal | undefined> => (await db.query<Seal>(newestSeal))[0]

const lastBefore = statement('audit.last_seal_before')`
  select ${sealColumns} from audit_seals where sealed_at < $1 order by audit_seals.sequence desc limit 1`
export const readLastSealBefore = async (db: Db, at: Date): Promise<Seal | undefined> =>
  (await db.query<Seal>(lastBefore, [at]))[0]

const through = statement('audit.seal_through')`
  select ${sealColumns} from audit_seals where (through_transaction, through_id) = (select transaction, id from audit_log where id = $1)`
export const readSealThrough = async (db: Db, id: Uuid): Promise<Seal | undefined> => (await db.query<Seal>(through, [id]))[0]

export const readSealsAfter = (db: Db, sequence: number, take: number): Promise<Seal[]> => db.query(sealsAfter, [sequence, take])

type Line = { id: Uuid; line: string }
const rangeOf = (before: SealEnd | undefined, seal: SealEnd) => {
  const from = before ?? startOfLog
  return [from.transaction, from.id, seal.transaction, seal.id]
}

const hashBytes = 32

const readLeaves = async (db: Db, before: SealEnd | undefined, seals: readonly Seal[], take: number): Promise<Buffer[][]> => {
  const last = seals.at(-1)
  if (!last) return []
  const places = fieldsOf([before ?? startOfLog, ...seals], 'transaction', 'id')
  const [transactions, ids] = places as [string[], string[]]
  const ends = [transactions.slice(0, -1), ids.slice(0, -1), transactions.slice(1), ids.slice(1)]
  const rows = await db.query<{ leaves: Buffer | null }>(sealedLeaves, [...rangeOf(before, last), take, ...ends])
  return rows.map(({ leaves }) =>
    Array.from({ length: (leaves?.length ?? 0) / hashBytes }, (_, index) =>
      (leaves as Buffer).subarray(index * hashBytes, (index + 1) * hashBytes),
    ),
  )
}

/**
 * The hashes of the rows that each of several seals covers, in any partition, plus one more if there are more rows than it sealed.
 * Reads all of them at once, because Postgres would sort a large transaction again for each query on a part of it.
 */
export const readSealedLeaves = async (db: Db, before: SealEnd | undefined, seals: readonly Seal[]): Promise<Buffer[][]> => {
  const expected = seals.reduce((sum, { rows }) => sum + rows, 0)
  const all = await readLeaves(db, before, seals, expected + 1)
  if (all.reduce((sum, leaves) => sum + leaves.length, 0) <= expected) return all
  // Some seal covers more rows than it sealed. One extra row per seal shows which.
  const each = await Promise.all(seals.map((seal, index) => readLeaves(db, seals[index - 1] ?? before, [seal], seal.rows + 1)))
  return each.flat()
}

const around = (one: Uuid, other: Uuid): [Uuid, Uuid] => {
  const [first, last] = one < other ? [one, other] : [other, one]
  return [firstIdAt(daysAfter(timeOfId(first), -maxIdAgeDays)), firstIdAt(daysAfter(timeOfId(last), maxIdAgeDays))]
}

/** Reads only partitions near the rows, so that proofs stay fast in an old log. `verify` detects rows elsewhere. */
export const readNearSealedRows = (db: Db, before: SealEnd | undefined, seal: SealEnd): Promise<Line[]> =>
  db.query(sealedNear, [...rangeOf(before, seal), ...around(before?.id ?? startOfLog.id, seal.id)])

const sealNext = async (tx: Tx, derivations: Derivations): Promise<{ seal: Seal; more: boolean } | undefined> => {
  const [lock] = await tx.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [sealLock])
  if (!lock?.taken) return undefined
  const last = await readNewestSeal(tx)
  const from = last ?? startOfLog
  const rows = await tx.query<SealEnd & { line: string }>(unsealed, [
    from.transaction,
    from.id,
    rowsPerRun,
    firstIdAt(daysAfter(timeOfId(from.id), -maxIdAgeDays)),
  ])
  const size = last?.sequence ?? 0
  const add = await readSealTree(tx, size)
  const seals: Seal[] = []
  const nodes: SealNode[] = []
  const keyId = derivations.currentKeyId
  for (const [index, chunk] of chunksOf(rows, rowsPerSeal).entries()) {
    const root = rootOfRows(chunk.map((row) => leafOfLine(row.line)))
    const { digest, completed } = add(root)
    nodes.push(...completed)
    const hash = derivations.mac(sealPurpose, digest.toString('hex'))
    const { transaction, id } = chunk.at(-1) as SealEnd
    const sequence = size + index + 1
    seals.push({ sequence, transaction, id, rows: chunk.length, rowsRoot: root, digest, hash, keyId, sealedAt: tx.at })
  }
  const seal = seals.at(-1)
  if (!seal) return undefined
  await insertRows(
    tx,
    auditSeals,
    seals.map(({ transaction, id, ...sealed }) => ({ ...sealed, throughTransaction: BigInt(transaction), throughId: id })),
  )
  await insertRows(
    tx,
    auditSealNodes,
    nodes.map((node) => ({ ...node, hash: Buffer.from(node.hash) })),
  )
  tx.afterCommit(() => tx.recoveryPoint.track('seal', [`${seal.sequence}:${seal.hash.toString('hex')}`]))
  return { seal, more: rows.length === rowsPerRun }
}

/** Seals new rows in batches, without blocking commits. The newest hash is logged: kept elsewhere, it proves all earlier rows. */
export const sealAuditLog = async (deps: { db: Database; logger: Logger; derivations: Derivations }): Promise<void> => {
  for (let more = true; more; ) {
    const sealed = await inTx(deps.db, (tx) => sealNext(tx, deps.derivations))
    if (sealed) deps.logger.info({ seal: sealed.seal.sequence, hash: sealed.seal.hash.toString('hex') }, 'audit log rows sealed')
    more = sealed?.more ?? false
  }
}
