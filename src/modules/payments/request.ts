import type { Principal } from '../../auth/principal.ts'
import type { MandateStanding } from '../../policy/types.ts'
import type { AccountQueue } from '../../queue/account-queue.ts'
import type { RecordAnswer } from '../../queue/record-keys.ts'
import type { Answered, WriteRequest } from '../../queue/write-path.ts'
import type { CreatePaymentBatch } from './batch/schema.ts'
import type { CreatePayment } from './schema.ts'

/** A request for a payment, as it waits for its batch. */
export type PaymentRequest = WriteRequest<Principal> & {
  /** The principal, as it was authenticated when the request arrived. */
  principal: Principal
  input: CreatePayment
  /** What the chain of the wallet that signed the named mandate said when the request arrived. */
  standing: MandateStanding
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

export type PaymentQueue = AccountQueue<PaymentRequest, CreatedPayment>
export type BatchQueue = AccountQueue<BatchRequest, CreatedPayment>
