import { asc } from 'drizzle-orm'
import type { z } from 'zod'
import type { ReceiptKeys } from '../../auth/receipt-keys.ts'
import type { Config } from '../../config.ts'
import { type Database, type Db, inTx, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertOnce, updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { signingKeys } from '../../db/tables/events.ts'
import { audit } from '../../events/audit.ts'
import { type LogHead, proveConsistency, type RowProof, readLogHead } from '../../events/seal-proofs.ts'
import { canonicalJson } from '../../lib/canonical.ts'
import { isoTime } from '../../lib/clock.ts'
import { invalidFields, Refusal, StartupError } from '../../lib/errors.ts'
import type { Operator } from '../operators.ts'
import type { KeySet, RowProof as RowProofOut, LogHead as SignedHead } from './schema.ts'

export type SigningKeyRecord = typeof signingKeys.$inferSelect

const all = prepare('signing_keys.all', {}, (orm) =>
  orm.select().from(signingKeys).orderBy(asc(signingKeys.createdAt), asc(signingKeys.id)),
)

/** Every key that has signed or may sign, oldest first. */
export const listSigningKeys = (db: Db): Promise<SigningKeyRecord[]> => db.run(all, {})

const lockKey = selectRow('signing_keys.lock', signingKeys, ['id'], { lock: 'update' })

const problemWith = (
  { current, all }: ReceiptKeys,
  stored: readonly { id: string; publicKey: Buffer; retiredAt: Date | null }[],
): string | undefined => {
  const configured = new Map(all.map(({ id, publicKey }) => [id, publicKey]))
  for (const { id, publicKey, retiredAt } of stored) {
    const key = configured.get(id)
    if (key && !key.equals(publicKey))
      return `The key "${id}" in RECEIPT_KEYS is not the one that signed receipts: restore that key, and give the new one another id.`
    if (!key && !retiredAt)
      return `RECEIPT_KEYS lacks the key "${id}", which has signed receipts: restore it after the current one, or retire it with npm run admin -- receipt-keys retire ${id}.`
    if (retiredAt && id === current.id)
      return `RECEIPT_KEYS begins with the key "${id}", which is retired: put another key first.`
  }
  return undefined
}

/**
 * Called before any of the keys signs.
 * @throws StartupError if a key that signed is missing or has changed, or if the first key is retired.
 */
export const registerSigningKeys = (db: Database, receiptKeys: ReceiptKeys): Promise<void> =>
  inTx(db, async (tx) => {
    const { all } = receiptKeys
    const { at } = tx
    await Promise.all(all.map(({ id, publicKey }) => insertOnce(tx, signingKeys, { id, publicKey, createdAt: at })))
    const problem = problemWith(receiptKeys, await listSigningKeys(tx))
    if (problem) throw new StartupError(problem)
  })

/** Retires a key. It stays published with its end time, and its private half may be removed from RECEIPT_KEYS. */
export const retireSigningKey = async (tx: Tx, receiptKeys: ReceiptKeys, operator: Operator, id: string) => {
  if (id === receiptKeys.current.id)
    throw new Refusal('conflict', {
      message: `"${id}" is the current key: put another one first in RECEIPT_KEYS and restart every process.`,
    })
  const row = await lockKey(tx, { id })
  if (!row) throw new Refusal('not_found', { message: `No key "${id}" has signed here.` })
  if (row.retiredAt) return row
  audit(tx, operator, 'admin.retire_receipt_key', { workspaceId: null, after: { key: id } })
  return updateRow(tx, signingKeys, row, { retiredAt: tx.at })
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const seconds = (at: Date): number => Math.floor(at.getTime() / 1000)

export const presentKeys = (keys: readonly SigningKeyRecord[]): z.output<typeof KeySet> => ({
  keys: keys.map(({ id, publicKey, createdAt, retiredAt }) => ({
    kty: 'OKP',
    crv: 'Ed25519',
    alg: 'EdDSA',
    use: 'sig',
    kid: id,
    x: publicKey.toString('base64url'),
    iat: seconds(createdAt),
    ...(retiredAt && { exp: seconds(retiredAt) }),
  })),
})

export const presentProof = (proof: RowProof): RowProofOut => ({
  line: proof.line,
  index: proof.index,
  rows: proof.rows,
  path: proof.path.map(hex),
  seal: proof.seal,
  rows_root: hex(proof.rowsRoot),
  seal_path: proof.sealPath.map(hex),
})

/** Signs the newest head. Null while nothing is sealed. */
export const signHead = (config: Config, receiptKeys: ReceiptKeys, head: LogHead | null): SignedHead | null => {
  if (!head) return null
  const stated = { root: hex(head.root), sealed_at: isoTime(head.sealedAt), size: head.size }
  return { ...stated, jws: receiptKeys.sign(canonicalJson({ issuer: config.publicUrl, ...stated }), 'audit-log-head') }
}

export const signDocument = (receiptKeys: ReceiptKeys, document: object, type: string): string =>
  receiptKeys.sign(canonicalJson(document), type)

/** With `from`, also proves that the log of that many seals is the beginning of the current log. */
export const readSealedLog = async (db: Db, config: Config, receiptKeys: ReceiptKeys, from: number | undefined) => {
  const head = await readLogHead(db)
  const signed = signHead(config, receiptKeys, head)
  if (!head || !signed)
    throw new Refusal('not_found', { message: 'Nothing is sealed yet. The first seal follows within a minute.' })
  if (from !== undefined && from > head.size)
    throw invalidFields({ path: 'from', message: `must be at most ${head.size}: the log has no more seals` })
  const consistency = from === undefined ? null : { from, path: (await proveConsistency(db, from, head.size)).map(hex) }
  return { head: signed, consistency }
}
