import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import type { Once, Sent } from '../../http/idempotency.ts'
import type { CreatePayment, Payment } from './schema.ts'

/** One request for a payment, as it waits for its batch. */
export type PaymentRequest = {
  /** The principal, as it was authenticated when the request arrived. */
  principal: Principal
  input: CreatePayment
  once: Once | null
  /** The trace to which the request belongs: its batch may run in the trace of another request. */
  traceparent?: string | null
  /** Checks the caller again under the locks of the deciding transaction; throws if it would be refused now. */
  reauthenticate: (tx: Tx) => Promise<Principal>
  /** The response's body, as text. */
  serialize: (payment: Payment) => string
}

/** Decides a request together with the others that wait, and answers it. Throws its refusal. */
export type SubmitPayment = (request: PaymentRequest) => Promise<Sent>
