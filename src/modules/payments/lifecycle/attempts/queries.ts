import { type Db, statement, type Tx } from '../../../../db/client.ts'
import type { railAttempts } from '../../../../db/tables/payments.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { ProviderReference } from '../../../../rails/rail.ts'

export type AttemptRecord = typeof railAttempts.$inferSelect

export const attemptColumns = `id, kind, subject_id as "subjectId", rail, state, amount_minor as "amountMinor", reference, secret_hash as "secretHash",
  secret_ciphertext as "secretCiphertext", secret_key_id as "secretKeyId", provider_request as "providerRequest",
  provider_conversation as "providerConversation", checks, next_check_at as "nextCheckAt", created_at as "createdAt", updated_at as "updatedAt"`

const byId = statement('attempts.get', `select ${attemptColumns} from rail_attempts where id = $1`)
const bySubject = statement('attempts.of_subject', 'select state from rail_attempts where subject_id = $1')

export const findAttempt = async (db: Db, id: Uuid): Promise<AttemptRecord | undefined> =>
  (await db.query<AttemptRecord>(byId, [id]))[0]

export const getAttempt = async (db: Db, id: Uuid): Promise<AttemptRecord> => {
  const attempt = await findAttempt(db, id)
  if (!attempt) throw new Error('an attempt that must exist is missing')
  return attempt
}

export const attemptStatesOf = async (db: Db, subjectId: Uuid): Promise<AttemptRecord['state'][]> =>
  (await db.query<{ state: AttemptRecord['state'] }>(bySubject, [subjectId])).map(({ state }) => state)

const insert = statement(
  'attempts.insert',
  `insert into rail_attempts (id, kind, subject_id, rail, state, amount_minor, reference, secret_hash, secret_ciphertext, secret_key_id, next_check_at, created_at, updated_at)
   values ($1, $2, $3, $4, 'recorded', $5, $6, $7, $8, $9, $10, $11, $11) on conflict (reference) do nothing returning id`,
)

export type NewAttempt = Pick<
  AttemptRecord,
  | 'id'
  | 'kind'
  | 'subjectId'
  | 'rail'
  | 'amountMinor'
  | 'reference'
  | 'secretHash'
  | 'secretCiphertext'
  | 'secretKeyId'
  | 'nextCheckAt'
  | 'createdAt'
>

/** False when the reference is taken: the caller makes another one. */
export const insertAttempt = async (tx: Tx, attempt: NewAttempt): Promise<boolean> => {
  const { id, kind, subjectId, rail, amountMinor, reference, secretHash, secretCiphertext, secretKeyId, nextCheckAt, createdAt } =
    attempt
  const values = [
    id,
    kind,
    subjectId,
    rail,
    amountMinor,
    reference,
    secretHash,
    secretCiphertext,
    secretKeyId,
    nextCheckAt,
    createdAt,
  ]
  return (await tx.query(insert, values)).length === 1
}

const setState = statement(
  'attempts.set_state',
  'update rail_attempts set state = $2, next_check_at = $3, updated_at = $4 where id = $1',
)

export const updateAttempt = async (
  tx: Tx,
  id: Uuid,
  state: AttemptRecord['state'],
  nextCheckAt: Date | null,
  at: Date,
): Promise<void> => {
  await tx.query(setState, [id, state, nextCheckAt, at])
}

const adopt = statement(
  'attempts.adopt_provider',
  `update rail_attempts set provider_request = coalesce(provider_request, $2), provider_conversation = coalesce(provider_conversation, $3)
   where id = $1 and (provider_request is null or provider_conversation is null)`,
)

/** What the provider calls it, the first time that it says so; what is known already stays. */
export const adoptProvider = async (tx: Tx, id: Uuid, provider: ProviderReference): Promise<void> => {
  if (provider.request !== null || provider.conversation !== null)
    await tx.query(adopt, [id, provider.request, provider.conversation])
}

const resolveAll = statement(
  'attempts.resolve',
  `update rail_attempts set state = 'resolved', next_check_at = null, updated_at = $2 where subject_id = $1 and state not in ('not_sent', 'resolved')`,
)

/** The subject has ended: nobody needs to ask any more. */
export const resolveAttempts = async (tx: Tx, subjectId: Uuid, at: Date): Promise<void> => {
  await tx.query(resolveAll, [subjectId, at])
}
