import type { OrderNames } from '../../auth/order-names.ts'
import type { Uuid } from '../../lib/ids.ts'
import { collectionRail } from '../../lib/rail-names.ts'
import type { Attempt, CallbackUrls, Delivery, DeliveryKind, Evidence, Rails } from '../../rails/rail.ts'
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

/** What an attempt needs of its rail after it was sent, for payouts and collections alike. */
export type QueryableRail = {
  query: (attempt: Attempt) => Promise<Evidence>
  readDelivery: (kind: DeliveryKind, body: unknown, attempt: AttemptRecord) => Delivery
}

/** Undefined when the deployment no longer has the attempt's rail. */
export const railOf = (rails: Rails, name: AttemptRecord['rail']): QueryableRail | undefined => {
  if (name === collectionRail) return rails.collection ?? undefined
  const rail = rails.payout[name]
  return (
    rail && {
      query: rail.query,
      readDelivery: (kind, body, { orderId, reference, providerRequest, providerConversation }) =>
        rail.readDelivery(kind, body, {
          orderId,
          rail: name,
          reference,
          provider: { request: providerRequest, conversation: providerConversation },
        }),
    }
  )
}
