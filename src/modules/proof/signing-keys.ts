import { asc, eq } from 'drizzle-orm'
import type { ReceiptKeys } from '../../auth/receipt-keys.ts'
import { type Database, type Db, first, inTx, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareInsertOnce, prepareWrite } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { signingKeys } from '../../db/tables/events.ts'
import { audit } from '../../events/audit.ts'
import { Refusal, StartupError } from '../../lib/errors.ts'
import type { Operator } from '../operators.ts'

export type SigningKeyRecord = typeof signingKeys.$inferSelect

const all = prepare('signing_keys.all', {}, (orm) =>
  orm.select().from(signingKeys).orderBy(asc(signingKeys.createdAt), asc(signingKeys.id)),
)

/** Every key that has signed or may sign, the oldest first. */
export const listSigningKeys = (db: Db): Promise<SigningKeyRecord[]> => db.run(all, {})

const insertKey = prepareInsertOnce('signing_keys.insert', signingKeys)
const lockKey = selectRow('signing_keys.lock', signingKeys, ['id'], { lock: 'update' })
const retireKey = prepareWrite('signing_keys.retire', { id: 'text', at: 'timestamptz' }, (orm, at) =>
  orm.update(signingKeys).set({ retiredAt: at.at }).where(eq(signingKeys.id, at.id)).returning(),
)

const problemWith = (
  { current, all }: ReceiptKeys,
  stored: readonly { id: string; publicKey: Buffer; retiredAt: Date | null }[],
): string | undefined => {
  const configured = new Map(all.map(({ id, publicKey }) => [id, publicKey]))
  for (const { id, publicKey, retiredAt } of stored) {
    const key = configured.get(id)
    if (key && !key.equals(publicKey))
      return `RECEIPT_KEYS has another key under the id "${id}" than the one that signed: put that key back, and give the new one an id of its own.`
    if (!key && !retiredAt)
      return `RECEIPT_KEYS lacks the key "${id}", which has signed receipts: put it back after the current one, or retire it with npm run admin -- receipt-keys retire ${id}.`
    if (retiredAt && id === current.id)
      return `RECEIPT_KEYS begins with the key "${id}", which is retired: put another key first.`
  }
  return undefined
}

/**
 * Records the public keys of RECEIPT_KEYS before any of them signs, and compares them with those that have signed.
 * @throws StartupError where a key that signed is missing, is another one, or is retired and first.
 */
export const registerSigningKeys = (db: Database, receiptKeys: ReceiptKeys): Promise<void> =>
  inTx(db, async (tx) => {
    const { all } = receiptKeys
    const { at } = tx
    await Promise.all(all.map(({ id, publicKey }) => insertKey(tx, { id, publicKey, createdAt: at })))
    const problem = problemWith(receiptKeys, await listSigningKeys(tx))
    if (problem) throw new StartupError(problem)
  })

/** Ends a key: it stays published with the time, and its private half may leave RECEIPT_KEYS. The current key cannot be retired. */
export const retireSigningKey = async (tx: Tx, receiptKeys: ReceiptKeys, operator: Operator, id: string) => {
  if (id === receiptKeys.current.id)
    throw new Refusal('conflict', {
      message: `"${id}" is the current key: put another one first in RECEIPT_KEYS and restart every process.`,
    })
  const row = await lockKey(tx, { id })
  if (!row) throw new Refusal('not_found', { message: `No key "${id}" has signed here.` })
  if (row.retiredAt) return row
  const retired = await first(tx, retireKey, { id, at: tx.at })
  audit(tx, operator, 'admin.retire_receipt_key', { workspaceId: null, after: { key: id } })
  return retired
}
