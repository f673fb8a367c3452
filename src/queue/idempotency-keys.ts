import { type Db, statement, type Tx } from '../db/client.ts'
import { bytesList, plainList, textList } from '../db/lists.ts'
import type { Remembered } from '../db/remembered.ts'
import { conflict, Refusal } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'

/** A request's key, its scope, and a digest of the body that it was first used with. */
export type Once = { key: string; scope: Buffer; bodyHash: Buffer }

/** A key that was used, and what its request was answered. */
export type UsedKey<Answer> = { once: Omit<Once, 'key'>; answer: Answer }

/** Where the answers to keys are kept. */
export type Keys<Answer> = {
  /** The keys among these that were used. The caller has locked their scopes' accounts, so no other request uses one of them now. */
  read: (db: Db, all: readonly Once[]) => Promise<UsedKey<Answer>[]>
  /** Stores what was answered, in the transaction of its effect. */
  keep: (tx: Tx, used: readonly UsedKey<Answer>[]) => Promise<void>
}

/** An answer as it was sent, without secrets that are shown once. */
export type StoredAnswer = { status: number; text: string }
/** A payment's snapshot is its answer, so nothing else is stored. */
export type StoredPayment = { paymentId: Uuid; text: string }

type Row = { scope: Buffer; bodyHash: Buffer; status: number; paymentId: Uuid | null; text: string }

const find = statement(
  'idempotency.read',
  `select scope, body_hash as "bodyHash", status, payment_id as "paymentId",
     coalesce(response, (select snapshot::text from payments where payments.id = payment_id)) as text
   from idempotency_keys where scope = any($1::bytea[])`,
)
const store = statement(
  'idempotency.store',
  `insert into idempotency_keys (scope, body_hash, status, response, payment_id, created_at)
   select scope, body, status, response, payment, $6 from rows from (unnest($1::bytea[]), unnest($2::bytea[]), unnest($3::int[]),
     unnest($4::text[]), unnest($5::uuid[])) as kept(scope, body, status, response, payment)`,
)

const keysWith = <Answer>(
  answerOf: (row: Row) => Answer,
  rowOf: (answer: Answer) => { status: number; text: string | null; paymentId: Uuid | null },
): Keys<Answer> => ({
  read: async (db, all) => {
    const rows = all.length === 0 ? [] : await db.query<Row>(find, [bytesList(all.map(({ scope }) => scope))])
    return rows.map((row) => ({ once: row, answer: answerOf(row) }))
  },
  keep: async (tx, used) => {
    if (used.length === 0) return
    tx.remember(
      'key',
      used.map(({ once }) => once.scope.toString('hex')),
    )
    const rows = used.map(({ answer }) => rowOf(answer))
    await tx.query(store, [
      bytesList(used.map(({ once }) => once.scope)),
      bytesList(used.map(({ once }) => once.bodyHash)),
      plainList(rows.map(({ status }) => status)),
      textList(rows.map(({ text }) => text)),
      plainList(rows.map(({ paymentId }) => paymentId)),
      tx.at,
    ])
  },
})

export const answerKeys: Keys<StoredAnswer> = keysWith(
  ({ status, text }) => ({ status, text }),
  (answer) => ({ ...answer, paymentId: null }),
)

const createdStatus = 201

export const paymentKeys: Keys<StoredPayment> = keysWith(
  ({ paymentId, text }) => {
    if (!paymentId) throw new Error('the key of a payment has another answer')
    return { paymentId, text }
  },
  ({ paymentId }) => ({ status: createdStatus, text: null, paymentId }),
)

const usedOtherwise = (): Refusal => conflict('This Idempotency-Key was used with another request.', 'idempotency')

/** The key was acknowledged, and the database does not have it any more: a second effect could be a second payment. */
const lostWrite = (): Refusal =>
  new Refusal('unavailable', {
    message:
      'The database has lost the request that used this key: an operator must check it first. Send the request again later.',
    details: { reason: 'database_lost_writes' },
    headers: { 'retry-after': '60' },
  })

/** The keys of one batch: those that were used before, and those that the batch itself uses. */
export const openKeys = <Answer>(keys: Keys<Answer>, before: readonly UsedKey<Answer>[], remembered: Pick<Remembered, 'has'>) => {
  const nameOf = ({ scope }: Pick<Once, 'scope'>): string => scope.toString('hex')
  const known = new Map(before.map((used) => [nameOf(used.once), used]))
  const used: UsedKey<Answer>[] = []
  return {
    /** The answer of the key's first request; a refusal if that was another request. */
    find: (once: Once | null): Answer | Refusal | undefined => {
      const first = once && known.get(nameOf(once))
      if (!once) return undefined
      if (!first) return remembered.has('key', nameOf(once)) ? lostWrite() : undefined
      return first.once.bodyHash.equals(once.bodyHash) ? first.answer : usedOtherwise()
    },
    use: (once: Once | null, answer: Answer): void => {
      if (!once) return
      used.push({ once, answer })
      known.set(nameOf(once), { once, answer })
    },
    keep: (tx: Tx): Promise<void> => keys.keep(tx, used),
  }
}
