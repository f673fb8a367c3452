import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Decision, MandateStanding } from '../../policy/types.ts'
import type { RecordAnswer } from '../../queue/record-keys.ts'
import type { Answered, WriteRequest } from '../../queue/write-path.ts'
import type { PaymentMandate } from '../mandates/for-payments.ts'
import type { CreatePaymentBatch } from './batch/schema.ts'
import type { PaymentRecord } from './queries.ts'
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

/** Decides a batch of payments, all of them or none. Throws its refusal. */
export type SubmitBatch = (request: Omit<BatchRequest, 'locks' | 'traceparent'>) => Promise<Answered<RecordAnswer>>

/** Decides a request together with the others that wait. Throws its refusal. */
export type SubmitPayment = (request: Omit<PaymentRequest, 'locks' | 'standing' | 'traceparent'>) => Promise<CreatedPayment>

/**
 * Records refused payments after they were refused: their own transactions were undone, and the caller has its answer. Those that come while a
 * batch is being written form the next one. What a process had not written when it was killed is lost.
 */
export type Refusals = {
  /** The same, with its refusals recorded. */
  payments: (submit: SubmitPayment) => SubmitPayment
  batches: (submit: SubmitBatch) => SubmitBatch
  /** Resolves when everything that was refused so far by this process is written: before it is listed, and at the end. */
  settled: () => Promise<void>
}

/** A payment that a person must approve, with what decided it. */
export type ToApprove = { payment: PaymentRecord; decision: Decision; mandate: PaymentMandate | null }

/** What the creation of a payment asks of approvals. */
export type PaymentApprovals = {
  /** The grant that a request came from: its own, or the one behind its session. */
  initiatingGrant: (tx: Tx, credential: Principal['credential'], grantId: Uuid | null) => Promise<Uuid | null>
  /** Creates the approval that a decision needs, in the transaction that decided. */
  request: (tx: Tx, toApprove: ToApprove, initiatingGrantId: Uuid | null) => Promise<void>
}
