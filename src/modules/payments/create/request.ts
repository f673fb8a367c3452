import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import type { Once, Sent } from '../../../http/idempotency.ts'
import type { Refusal } from '../../../lib/errors.ts'
import type { CreatePayment, Payment } from '../schema.ts'

/** One request for a payment, as it waits for its batch. */
export type PaymentRequest = {
  /** Who asked, as it was authenticated on arrival. */
  principal: Principal
  input: CreatePayment
  once: Once | null
  /** The trace that the request is part of: its batch may run in that of another. */
  traceparent?: string | null
  /** The caller's standing under the locks of the deciding transaction; throws as the request itself would be refused now. */
  stand: (tx: Tx) => Promise<Principal>
  /** The answer's text. */
  serialize: (payment: Payment) => string
}
/** `busy`: another transaction holds an account that the request needs. */
export type PaymentResult = Sent | Refusal | 'busy'

/** Decides a request together with the others that wait, and answers it. Throws its refusal. */
export type SubmitPayment = (request: PaymentRequest) => Promise<Sent>
