import { collectionRail } from '../../../../lib/rail-names.ts'
import type { Attempt, Delivery, DeliveryKind, Evidence, Rails } from '../../../../rails/rail.ts'
import type { AttemptRecord } from './queries.ts'

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
