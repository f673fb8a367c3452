import type { Logger } from 'pino'
import type { OrderNames } from '../../auth/order-names.ts'
import type { Sealed, Vault } from '../../auth/vault.ts'
import { describeError } from '../../db/errors.ts'
import type { Actor } from '../../events/audit.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import { collectionRail } from '../../lib/rail-names.ts'
import {
  type Attempt,
  type CallbackUrls,
  longestRequestMs,
  type Rails,
  type SendPermission,
  type Submission,
} from '../../rails/rail.ts'
import type { AttemptRecord } from './queries.ts'

/** What an attempt adds to the instruction of its payment or top-up. */
export type Order = { attemptId: Uuid; orderId: Uuid; reference: string; at: Date; callbacks: CallbackUrls }

export type Sending = Order & { permission: SendPermission }

/** The sends of an order before this one. */
export type Earlier = { sends: number; generation: number }

/** What is to be sent. The destination is opened inside `send` and exists only during the call. Never throws because of a provider. */
export type Outgoing = {
  subjectId: Uuid
  /** The owning account: whose money moves. */
  accountId: Uuid
  /** What the order's names follow from. */
  seed: readonly string[]
  /** How often it was sent before, each time without arriving, and under which generation of names. */
  earlier: Earlier
  amountMinor: Minor
  traceparent: string | null
  send: (sending: Sending) => Promise<Submission>
}

/** Our own proof that the rail was not called, and the reason. */
export const notSent = (code: string): Submission => ({ kind: 'not_sent', code, message: 'Nothing was sent.' })

/** Opens a destination for the call alone. Undefined, and logged, when it cannot be opened: then nothing is sent, and it is tried again. */
export const tryOpen = (
  deps: { vault: Vault; logger: Logger },
  sealed: Sealed,
  context: readonly string[],
): string | undefined => {
  try {
    return deps.vault.open(sealed, context)
  } catch (error) {
    deps.logger.error(describeError(error), 'a destination could not be opened')
    return undefined
  }
}

/** The source of evidence: the rail's answer to sending, its delivery, its answer to a query, its silence for too long, or an operator. */
export type EvidenceSource = { kind: 'submission' | 'delivery' | 'query' | 'silence' } | { kind: 'operator'; actor: Actor }

export const actorOf = (source: EvidenceSource): Actor =>
  source.kind === 'operator' ? source.actor : { accountId: null, origin: null, way: `rail:${source.kind}` }

/**
 * The result of a piece of evidence. `mismatch`: it does not match what was sent (another amount, a receipt that belongs to something
 * else). `contradiction`: it contradicts a final record. Neither moves money; both need a person. `superseded`: it is about an attempt that
 * has a later one. `suspense`: such an attempt moved money all the same.
 */
export type Verdict =
  | 'applied'
  | 'repeated'
  | 'inconclusive'
  | 'mismatch'
  | 'contradiction'
  | 'disputed'
  | 'superseded'
  | 'suspense'

/** When the rail is queried next, by how often it was queried: less and less often, but never stopping. No answer never ends an attempt. */
const queryDelaysSeconds = [30, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800] as const
const longestQueryDelaySeconds = 21_600

export const secondsToNextQuery = (queriesMade: number): number => queryDelaysSeconds[queriesMade] ?? longestQueryDelaySeconds

/** The longest time between recording an attempt and taking the right to send it. A later sender finds the attempt marked as not sent. */
export const claimWithinSeconds = 15

/** From recording an attempt to the first byte of its request: the token, the connection and the right to send. */
export const sendWithinSeconds = 10

/** How long a send may be under way before its attempt counts as lost. Too small does no harm: the answer is recorded whenever it comes. */
export const sendGraceSeconds = sendWithinSeconds + longestRequestMs / 1000 + 5

/** A provider states no time after which it forgets an order's id: within this one it is asked to take the same order again. */
export const repeatWithinSeconds = 3_600

/** A send that never reached the provider is tried again after these waits; after the last one it has failed. */
const retryAfterSeconds = [5, 15, 45, 120, 300, 600] as const

/** While the rail is down, its time to wait ends a payment and not the number of tries (`payments/give-up.ts`). */
const retryWhileDownSeconds = 60

/** Undefined after the last try. */
export const secondsToNextTry = (triesSoFar: number, isRailDown: boolean): number | undefined =>
  retryAfterSeconds[triesSoFar - 1] ?? (isRailDown ? retryWhileDownSeconds : undefined)

/** From this age on, an alert tells an operator about a payment that the rail accepted and never reported on. */
export const silenceSeconds = 900

/** After a day a customer no longer pays on a prompt: a delivery would still count, but the rail is no longer queried. */
export const queryTopupsForSeconds = 86_400

/** How long a payment waits for the chain of a wallet that approved it: its money is held during this time. For a rail: PAYMENT_WAIT_MINUTES. */
export const longestChainWaitSeconds = 45 * 60

/** Until the chain of a wallet that approved a payment is asked again. */
export const secondsToNextChainQuery = 30

/** Deliveries are unsigned: only the provider knows the secret in their path. */
export const callbackUrls = (orderNames: OrderNames, operatorUrl: string, attemptId: Uuid): CallbackUrls => {
  const url = `${operatorUrl}/callbacks/${attemptId}/${orderNames.secretOf(attemptId)}`
  return { result: `${url}/result`, timeout: `${url}/timeout` }
}

/** The attempt as its rail knows it, callback URLs included: a query to the rail needs this. */
export const attemptForRail = (orderNames: OrderNames, operatorUrl: string, attempt: AttemptRecord): Attempt => ({
  orderId: attempt.orderId,
  rail: attempt.rail,
  amountMinor: attempt.amountMinor,
  reference: attempt.reference,
  provider: { request: attempt.providerRequest, conversation: attempt.providerConversation },
  at: attempt.createdAt,
  callbacks: callbackUrls(orderNames, operatorUrl, attempt.id),
})

/** What calls a rail, for payouts and collections alike. Undefined when the deployment does not have it. */
export const adapterOf = ({ payout, collection }: Pick<Rails, 'payout' | 'collection'>, rail: AttemptRecord['rail']) =>
  rail === collectionRail ? (collection ?? undefined) : payout[rail]
