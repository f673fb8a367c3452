import type { Principal } from '../../auth/principal.ts'
import type { MandateStanding } from '../../policy/types.ts'
import type { AccountQueue } from '../../queue/account-queue.ts'
import type { RecordAnswer } from '../../queue/record-keys.ts'
import type { Answered, WriteRequest } from '../../queue/write-path.ts'
import type { Parts } from '../parts.ts'
import type { Push } from '../push/send.ts'
import type { CreatePaymentBatch } from './batch/schema.ts'
import type { CreatePayment } from './schema.ts'

export type PaymentRequest = WriteRequest<Principal> & {
  principal: Principal
  input: CreatePayment
  /** What the chain of the wallet that signed the named mandate said when the request arrived. */
  standing: MandateStanding
  /** The trace to which the request belongs: its batch may run in the trace of another request. */
  traceparent: string | null
}

/** The payment, and its text as REST returns it. */
export type CreatedPayment = Answered<RecordAnswer>

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

/** What deciding payments needs, and asking for the approvals that they need. */
export type Deciding = Pick<Parts, 'clock' | 'config' | 'derivations' | 'rails' | 'vault'>

export type MayBeRefused = Pick<PaymentRequest, 'principal' | 'input'> | Pick<BatchRequest, 'principal' | 'input' | 'dryRun'>

/**
 * Records refused payments after they were refused: their own transactions were undone, and the caller has its answer. Those that come while a
 * batch is being written form the next one. What a process had not written when it was killed is lost.
 */
export type Refusals = {
  /** Does what may be refused, and records it when it was. */
  recording: <Answer>(request: MayBeRefused, submit: () => Promise<Answer>) => Promise<Answer>
  /** Resolves when everything that was refused so far by this process is written: before it is listed, and at the end. */
  settled: () => Promise<void>
}

/** What payments are built from: the parts, their queues, browsers that are told, and what records refusals. */
export type Deps = Parts & { push: Push | null; paymentQueue: PaymentQueue; batchQueue: BatchQueue; refusals: Refusals }
