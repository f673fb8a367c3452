import { and, eq, sql } from 'drizzle-orm'
import type { Logger } from 'pino'
import type { Sealed, Vault } from '../../auth/vault.ts'
import { type Db, statement, type Tx } from '../../db/client.ts'
import { describeError } from '../../db/errors.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRows, prepareWrite, type RowToInsert } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { railAttempts } from '../../db/tables/payments.ts'
import { type StateOf, statesBefore, transitions } from '../../db/transitions.ts'
import type { Actor } from '../../events/audit.ts'
import type { Uuid } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import type { Minor } from '../../lib/money.ts'
import { collectionRail } from '../../lib/rail-names.ts'
import {
  type Attempt,
  type CallbackUrls,
  longestRequestMs,
  type ProviderReference,
  type Rails,
  type SendPermission,
  type Submission,
} from '../../rails/rail.ts'
import type { Parts } from '../parts.ts'

export type Order = { attemptId: Uuid; orderId: Uuid; reference: string; at: Date; callbacks: CallbackUrls }

export type OrderToSend = Order & { permission: SendPermission }

export type EarlierSends = { sends: number; generation: number }

/** `send` decrypts the destination, which is plaintext only during the call. Never throws because of a provider. */
export type Outgoing = {
  subjectId: Uuid
  accountId: Uuid
  seed: readonly string[]
  earlier: EarlierSends
  amountMinor: Minor
  traceparent: string | null
  send: (sending: OrderToSend) => Promise<Submission>
}

const unsentReasons = {
  destination_unreadable: 'The destination could not be decrypted.',
  provider_not_configured: 'The rail is not configured.',
  too_late: 'The time for sending was over.',
} as const

export const notSent = (code: keyof typeof unsentReasons): Submission => ({
  kind: 'not_sent',
  code,
  message: unsentReasons[code],
})

/** Logs and returns undefined if a destination cannot be decrypted: nothing is sent, and the payment is tried again. */
export const tryOpen = (
  deps: { vault: Vault; logger: Logger },
  sealed: Sealed,
  context: readonly string[],
): string | undefined => {
  try {
    return deps.vault.open(sealed, context)
  } catch (error) {
    deps.logger.error(describeError(error), 'a destination could not be decrypted')
    return undefined
  }
}

export type EvidenceSource = { kind: 'submission' | 'delivery' | 'query' | 'silence' } | { kind: 'operator'; actor: Actor }

export const actorOf = (source: EvidenceSource): Actor =>
  source.kind === 'operator' ? source.actor : { accountId: null, origin: null, way: `rail:${source.kind}` }

/**
 * The verdict on evidence about a payment or a top-up. `mismatch`: the evidence differs from the order (another amount, a taken
 * receipt). `contradiction`: it contradicts a final record. `account_closed`: the account to credit is closed. None of the three
 * moves money; each needs a person.
 */
export type SettlementVerdict = 'applied' | 'repeated' | 'inconclusive' | 'mismatch' | 'contradiction' | 'account_closed'

/** Adds the verdicts on an attempt. `superseded`: the attempt has a successor. `suspense`: a superseded attempt paid. */
export type EvidenceVerdict = SettlementVerdict | 'disputed' | 'superseded' | 'suspense'

/** Waits between queries, by the number of queries made. Queries never stop, because a missing answer never ends an attempt. */
const queryDelaysSeconds = [30, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800] as const
const longestQueryDelaySeconds = 21_600

export const secondsToNextQuery = (queriesMade: number): number => queryDelaysSeconds[queriesMade] ?? longestQueryDelaySeconds

/** Maximum time from recording an attempt to taking the right to send. A later sender finds the attempt marked as not sent. */
export const claimWithinSeconds = 15

/** Maximum time from recording an attempt to the first byte, for the token, the connection and the right to send. */
export const sendWithinSeconds = 10

/** A send under way for longer counts as lost. Too small a value does no harm, because a late answer is still recorded. */
export const sendGraceSeconds = sendWithinSeconds + longestRequestMs / 1000 + 5

/** An order is repeated only within this time, because providers do not state how long they remember an order's id. */
export const repeatWithinSeconds = 3_600

/** Waits after sends that never reached the provider. After the last one, the payment fails. */
const retryAfterSeconds = [5, 15, 45, 120, 300, 600] as const

/** While the rail is down, tries are unlimited: `payments/wait-timeout.ts` ends the payment instead. */
const retryWhileDownSeconds = 60

/** Undefined after the last try. */
export const secondsToNextTry = (triesSoFar: number, isRailDown: boolean): number | undefined =>
  retryAfterSeconds[triesSoFar - 1] ?? (isRailDown ? retryWhileDownSeconds : undefined)

/** Age at which an alert reports a payment that the rail accepted but has not reported on. */
export const silenceSeconds = 900

/** Older prompts are no longer queried, because customers no longer pay them. A delivery would still count. */
export const queryTopupsForSeconds = 86_400

/** Maximum time that a payment waits for a wallet's chain, with its money on hold. For a rail: PAYMENT_WAIT_MINUTES. */
export const longestChainWaitSeconds = 45 * 60

export const secondsToNextChainQuery = 30

type OrderParts = Pick<Parts, 'config' | 'orderNames'>

export const orderForRail = (
  { config, orderNames }: OrderParts,
  { id, orderId, reference, createdAt }: Pick<AttemptRecord, 'id' | 'orderId' | 'reference' | 'createdAt'>,
): Order => {
  // Callbacks are not signed. The secret in the callback URL, known only to the provider, authenticates them.
  const url = `${config.operatorUrl}/callbacks/${id}/${orderNames.secretOf(id)}`
  const callbacks = { result: `${url}/result`, timeout: `${url}/timeout` }
  return { attemptId: id, orderId, reference, at: createdAt, callbacks }
}

export const attemptForRail = (deps: OrderParts, attempt: AttemptRecord): Attempt => ({
  ...orderForRail(deps, attempt),
  rail: attempt.rail,
  amountMinor: attempt.amountMinor,
  provider: { request: attempt.providerRequest, conversation: attempt.providerConversation },
})

export const adapterOf = ({ payout, collection }: Pick<Rails, 'payout' | 'collection'>, rail: AttemptRecord['rail']) =>
  rail === collectionRail ? (collection ?? undefined) : payout[rail]

export type AttemptRecord = typeof railAttempts.$inferSelect

export const findAttempt = selectRow('attempts.get', railAttempts, ['id'], { connection: 'pool' })

const bySubjects = prepare('attempts.of_subjects', { subjectIds: 'uuid[]' }, 'pool', (orm, param) =>
  orm
    .select()
    .from(railAttempts)
    .where(sql`${railAttempts.subjectId} = any(${param.subjectIds})`)
    .orderBy(railAttempts.createdAt, railAttempts.id),
)

export const attemptsOf = (db: Db, subjectIds: readonly Uuid[]): Promise<AttemptRecord[]> => db.run(bySubjects, { subjectIds })

/** Inserts attempts whose names are free, and returns their ids. The caller gives the others new names. */
export const insertAttempts = (tx: Tx, rows: readonly RowToInsert<typeof railAttempts>[]): Promise<{ id: Uuid }[]> =>
  insertRows(tx, railAttempts, rows, 'on conflict do nothing returning id')

export const earlierSendsSql = (subject: string): string =>
  `(select json_build_object('sends', count(*), 'generation', coalesce(max(a.generation), 0)) from rail_attempts a where a.subject_id = ${subject})`

type State = StateOf<'attempt'>

const setState = prepareWrite(
  'attempts.set_state',
  { id: 'uuid', to: 'text', nextCheckAt: 'timestamptz|null', at: 'timestamptz', from: 'text[]' },
  (orm, param) =>
    orm
      .update(railAttempts)
      .set({ state: param.to, nextCheckAt: param.nextCheckAt, updatedAt: param.at })
      .where(and(eq(railAttempts.id, param.id), sql`${railAttempts.state} = any(${param.from})`))
      .returning({ id: railAttempts.id }),
)

/** Returns whether the transition is allowed: the update itself checks the current state. */
export const moveAttempt = async (tx: Tx, id: Uuid, to: State, nextCheckAt: Date | null): Promise<boolean> =>
  (await tx.run(setState, { id, to, nextCheckAt, at: tx.at, from: statesBefore('attempt', to) })).length === 1

const setProviders = statement('attempts.adopt_providers')`
  update rail_attempts a set provider_request = coalesce(a.provider_request, x.request),
     provider_conversation = coalesce(a.provider_conversation, x.conversation)
   from unnest($1::uuid[], $2::text[], $3::text[]) as x(id, request, conversation)
   where a.id = x.id and ((a.provider_request is null and x.request is not null)
     or (a.provider_conversation is null and x.conversation is not null))`

/** Stores provider ids that are reported for the first time; known ids stay. */
export const adoptProviders = async (tx: Tx, adopted: readonly (ProviderReference & { id: Uuid })[]): Promise<void> => {
  const named = adopted.filter(({ request, conversation }) => request !== null || conversation !== null)
  if (named.length > 0) await tx.query(setProviders, fieldsOf(named, 'id', 'request', 'conversation'))
}

const openStates = (Object.keys(transitions.attempt) as State[]).filter((state) => state !== 'resolved' && state !== 'not_sent')

const resolveAll = prepareWrite('attempts.resolve', { subjectIds: 'uuid[]', at: 'timestamptz', from: 'text[]' }, (orm, param) =>
  orm
    .update(railAttempts)
    .set({ state: 'resolved', nextCheckAt: null, updatedAt: param.at })
    .where(and(sql`${railAttempts.subjectId} = any(${param.subjectIds})`, sql`${railAttempts.state} = any(${param.from})`)),
)

export const resolveAttempts = async (tx: Tx, subjectIds: readonly Uuid[]): Promise<void> => {
  if (subjectIds.length > 0) await tx.run(resolveAll, { subjectIds, at: tx.at, from: openStates })
}
