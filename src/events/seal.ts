import type { Logger } from 'pino'
import type { Derivations } from '../auth/vault.ts'
import { type Database, type Db, inTx, statement, type Tx } from '../db/client.ts'
import { genesis, sealDigest, sealPurpose } from './seal-chain.ts'

/** Where a seal ends: the position of its last row in the order of commits, as text. */
type Place = { transaction: string; id: string }
export type Seal = Place & { sequence: number; rows: number; previousDigest: Buffer; digest: Buffer; hash: Buffer; keyId: string }

const beginning: Place = { transaction: '0', id: '00000000-0000-0000-0000-000000000000' }
const batch = 500
/** A number that no other lock uses: one process seals at a time. */
const sealLock = 7_241_991

/** A row as it is sealed: its columns as a JSON array, all as text. */
const line = `json_build_array(id, transaction::text, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), action, account_id,
  credential_kind, credential_id, grant_id, workspace_id, subject_type, subject_id, before::text, after::text, ip, user_agent, request_id)::text as line`

const unsealed = statement(
  'audit.unsealed',
  `select id, transaction::text, ${line} from audit_log
   where (transaction, id) > ($1::xid8, $2::uuid) and transaction < (select events_settled_before())
   order by audit_log.transaction, audit_log.id limit $3`,
)
const between = statement(
  'audit.sealed',
  `select ${line} from audit_log
   where (transaction, id) > ($1::xid8, $2::uuid) and (transaction, id) <= ($3::xid8, $4::uuid)
   order by audit_log.transaction, audit_log.id`,
)
const sealColumns =
  'sequence, through_transaction::text as transaction, through_id as id, rows, previous_digest, digest, hash, key_id'
const newestSeal = statement(
  'audit.newest_seal',
  `select ${sealColumns} from audit_seals order by audit_seals.sequence desc limit 1`,
)
const sealsAfter = statement(
  'audit.seals_after',
  `select ${sealColumns} from audit_seals where sequence > $1 order by audit_seals.sequence limit $2`,
)
const insertSeal = statement(
  'audit.seal',
  `insert into audit_seals (sequence, through_transaction, through_id, rows, previous_digest, digest, hash, key_id, sealed_at)
   values ($1, $2::xid8, $3, $4, $5, $6, $7, $8, $9)`,
)

type SealRow = Place & { sequence: bigint; rows: number; previous_digest: Buffer; digest: Buffer; hash: Buffer; key_id: string }
const toSeal = ({ sequence, previous_digest: previousDigest, key_id: keyId, ...row }: SealRow): Seal => ({
  ...row,
  keyId,
  sequence: Number(sequence),
  previousDigest,
})

/** The newest seal: if its hash is recorded elsewhere, a later check can tell whether the chain up to it is still the same. */
export const readNewestSeal = async (db: Db): Promise<Seal | undefined> => (await db.query<SealRow>(newestSeal)).map(toSeal)[0]

const lastBefore = statement(
  'audit.last_seal_before',
  `select ${sealColumns} from audit_seals where sealed_at < $1 order by audit_seals.sequence desc limit 1`,
)
/** The newest seal from before an instant. */
export const readLastSealBefore = async (db: Db, at: Date): Promise<Seal | undefined> =>
  (await db.query<SealRow>(lastBefore, [at])).map(toSeal)[0]

export const readSealsAfter = async (db: Db, sequence: number, take: number): Promise<Seal[]> =>
  (await db.query<SealRow>(sealsAfter, [sequence, take])).map(toSeal)

/** The rows that a seal covers: those after the seal before it. */
export const readSealedRows = async (db: Db, before: Place | undefined, seal: Place): Promise<string[]> => {
  const from = before ?? beginning
  const rows = await db.query<{ line: string }>(between, [from.transaction, from.id, seal.transaction, seal.id])
  return rows.map((row) => row.line)
}

const sealNext = async (tx: Tx, derivations: Derivations): Promise<Seal | undefined> => {
  const [lock] = await tx.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [sealLock])
  if (!lock?.taken) return undefined
  const last = await readNewestSeal(tx)
  const from = last ?? beginning
  const rows = await tx.query<Place & { line: string }>(unsealed, [from.transaction, from.id, batch])
  const end = rows.at(-1)
  if (!end) return undefined
  const sequence = (last?.sequence ?? 0) + 1
  const previousDigest = last?.digest ?? genesis
  const digest = sealDigest(
    previousDigest,
    rows.map((row) => row.line),
  )
  const keyId = derivations.currentKeyId
  const hash = derivations.mac(sealPurpose, digest.toString('hex'))
  await tx.query(insertSeal, [sequence, end.transaction, end.id, rows.length, previousDigest, digest, hash, keyId, tx.at])
  tx.remember('seal', [`${sequence}:${hash.toString('hex')}`])
  return { sequence, transaction: end.transaction, id: end.id, rows: rows.length, previousDigest, digest, hash, keyId }
}

/**
 * Chains what was committed since, in batches; no commit waits for it. A row is left out while an older transaction could still write one
 * before it. The newest hash is logged: stored where the database's owner cannot change it, it proves everything up to it.
 */
export const sealAuditLog = async (deps: { db: Database; logger: Logger; derivations: Derivations }): Promise<void> => {
  for (let more = true; more; ) {
    const seal = await inTx(deps.db, (tx) => sealNext(tx, deps.derivations))
    if (seal)
      deps.logger.info({ seal: seal.sequence, rows: seal.rows, hash: seal.hash.toString('hex') }, 'audit rows were sealed')
    more = seal?.rows === batch
  }
}
