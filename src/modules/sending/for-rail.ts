import type { OrderNames } from '../../auth/order-names.ts'
import type { Uuid } from '../../lib/ids.ts'
import { collectionRail } from '../../lib/rail-names.ts'
import type { Attempt, CallbackUrls, Rails } from '../../rails/rail.ts'
import type { AttemptRecord } from '../attempts/queries.ts'

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
