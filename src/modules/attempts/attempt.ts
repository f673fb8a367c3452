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

export type Order = { attemptId: Uuid; orderId: Uuid; reference: string; at: Date; callbacks: CallbackUrls }

export type Sending = Order & { permission: SendPermission }

export type Earlier = { sends: number; generation: number }

/** The destination is opened inside `send` and exists only during the call. Never throws because of a provider. */
export type Outgoing = {
  subjectId: Uuid
  /** The owning account. */
  accountId: Uuid
  /** What the order's names follow from. */
  seed: readonly string[]
  earlier: Earlier
  amountMinor: Minor
  traceparent: string | null
  send: (sending: Sending) => Promise<Submission>
}

export const notSent = (code: string): Submission => ({ kind: 'not_sent', code, message: 'Nothing was sent.' })

/** Undefined, and logged, when it cannot be opened: then nothing is sent, and it is tried again. */
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

export type EvidenceSource = { kind: 'submission' | 'delivery' | 'query' | 'silence' } | { kind: 'operator'; actor: Actor }

export const actorOf = (source: EvidenceSource): Actor =>
  source.kind === 'operator' ? source.actor : { accountId: null, origin: null, way: `rail:${source.kind}` }

/**
 * `mismatch`: does not fit what was sent (another amount, a receipt of something else). `contradiction`: against a final record. Neither moves
 * money; both need a person. `superseded`: of an attempt with a later one. `suspense`: such an attempt moved money.
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

/** By how often the rail was queried: never stops, because no answer never ends an attempt. */
const queryDelaysSeconds = [30, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800] as const
const longestQueryDelaySeconds = 21_600

export const secondsToNextQuery = (queriesMade: number): number => queryDelaysSeconds[queriesMade] ?? longestQueryDelaySeconds

/** From recording an attempt to taking the right to send it. A later sender finds it marked as not sent. */
export const claimWithinSeconds = 15

/** From recording an attempt to the first byte: the token, the connection and the right to send. */
export const sendWithinSeconds = 10

/** A send that is under way for longer counts as lost. Too small does no harm: the answer is recorded whenever it comes. */
export const sendGraceSeconds = sendWithinSeconds + longestRequestMs / 1000 + 5

/** Providers state no time after which they forget an order's id. */
export const repeatWithinSeconds = 3_600

/** Waits after sends that never reached the provider; after the last one it has failed. */
const retryAfterSeconds = [5, 15, 45, 120, 300, 600] as const

/** While the rail is down, `payments/give-up.ts` ends a payment, not the number of tries. */
const retryWhileDownSeconds = 60

/** Undefined after the last try. */
export const secondsToNextTry = (triesSoFar: number, isRailDown: boolean): number | undefined =>
  retryAfterSeconds[triesSoFar - 1] ?? (isRailDown ? retryWhileDownSeconds : undefined)

/** Then an alert tells an operator about a payment that the rail accepted and never reported on. */
export const silenceSeconds = 900

/** A customer no longer pays on an older prompt; a delivery would still count. */
export const queryTopupsForSeconds = 86_400

/** How long a payment waits for a wallet's chain, with its money held. For a rail: PAYMENT_WAIT_MINUTES. */
export const longestChainWaitSeconds = 45 * 60

export const secondsToNextChainQuery = 30

/** Deliveries are unsigned: only the provider knows the secret in their path. */
export const callbackUrls = (orderNames: OrderNames, operatorUrl: string, attemptId: Uuid): CallbackUrls => {
  const url = `${operatorUrl}/callbacks/${attemptId}/${orderNames.secretOf(attemptId)}`
  return { result: `${url}/result`, timeout: `${url}/timeout` }
}

export const attemptForRail = (orderNames: OrderNames, operatorUrl: string, attempt: AttemptRecord): Attempt => ({
  orderId: attempt.orderId,
  rail: attempt.rail,
  amountMinor: attempt.amountMinor,
  reference: attempt.reference,
  provider: { request: attempt.providerRequest, conversation: attempt.providerConversation },
  at: attempt.createdAt,
  callbacks: callbackUrls(orderNames, operatorUrl, attempt.id),
})

/** Undefined when the deployment does not have the rail. */
export const adapterOf = ({ payout, collection }: Pick<Rails, 'payout' | 'collection'>, rail: AttemptRecord['rail']) =>
  rail === collectionRail ? (collection ?? undefined) : payout[rail]
