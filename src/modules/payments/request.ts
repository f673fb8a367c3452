import type { Principal } from '../../auth/principal.ts'
import type { RecordAnswer } from '../../queue/record-keys.ts'
import type { Answered, WriteRequest } from '../../queue/write-path.ts'
import type { CreatePaymentBatch } from './batch/schema.ts'
import type { CreatePayment } from './schema.ts'

/** A request for a payment, as it waits for its batch. */
export type PaymentRequest = WriteRequest<Principal> & {
  /** The principal, as it was authenticated when the request arrived. */
  principal: Principal
  input: CreatePayment
  /** The trace to which the request belongs: its batch may run in the trace of another request. */
  traceparent: string | null
}

/** The payment, and its text as REST returns it. */
export type CreatedPayment = Answered<RecordAnswer>

/** A request for a batch of payments, as it waits for its turn. */
export type BatchRequest = WriteRequest<Principal> & {
  principal: Principal
  input: CreatePaymentBatch
  /** For a list in CSV, the row of each item as a spreadsheet numbers it. */
  rows: readonly number[] | null
  /** Checks everything and creates nothing; the answer is the preview. */
  dryRun: boolean
  traceparent: string | null
}

/** Decides a batch of payments, all of them or none. Throws its refusal. */
export type SubmitBatch = (request: Omit<BatchRequest, 'locks' | 'traceparent'>) => Promise<Answered<RecordAnswer>>

/** Decides a request together with the others that wait. Throws its refusal. */
export type SubmitPayment = (request: Omit<PaymentRequest, 'locks' | 'traceparent'>) => Promise<CreatedPayment>
