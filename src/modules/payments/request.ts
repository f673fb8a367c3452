import type { Principal } from '../../auth/principal.ts'
import type { Refusal } from '../../lib/errors.ts'
import type { PaymentList } from '../../lib/payment-list.ts'
import type { MandateSignatureStatus } from '../../policy/types.ts'
import type { AccountQueue } from '../../queue/account-queue.ts'
import type { RecordAnswer } from '../../queue/record-keys.ts'
import type { Answered, WriteRequest } from '../../queue/write-path.ts'
import type { Parts } from '../parts.ts'
import type { Push } from '../push/send.ts'
import type { CompleteBatch } from './batch/schema.ts'
import type { PaymentRecord } from './queries.ts'
import type { CreatePayment } from './schema.ts'

export type PaymentRequest = WriteRequest<Principal> & {
  principal: Principal
  input: CreatePayment
  /** The chain's answer about the wallet that signed the mandate, read before the transaction. */
  mandateSignature: MandateSignatureStatus
  /** W3C traceparent of this request, whose group may run in another request's trace. */
  traceparent: string | null
}

/** `status`: the status of the payment, if this request created one. */
export type CreatedPayment = Answered<RecordAnswer & { status?: PaymentRecord['status'] }>

export type BatchRequest = WriteRequest<Principal> & {
  principal: Principal
  input: CompleteBatch
  /** Spreadsheet row of each item; null for a JSON batch. */
  rows: readonly number[] | null
  warnings: PaymentList['warnings']
  dryRun: boolean
  traceparent: string | null
}

export type PaymentQueue = AccountQueue<PaymentRequest, CreatedPayment>
export type BatchQueue = AccountQueue<BatchRequest, CreatedPayment>

export type DecisionParts = Pick<Parts, 'clock' | 'config' | 'derivations' | 'rails' | 'vault'>

export type RefusableRequest =
  | ({ kind: 'payment' } & Pick<PaymentRequest, 'principal' | 'input'>)
  | ({ kind: 'batch' } & Pick<BatchRequest, 'principal' | 'input' | 'dryRun'>)

/** The fault of an item. The refusal of a batch has the faults of all its items as its cause, and names only the first of them. */
export type Fault = { index: number; refusal: Refusal }

/** Records refused payments in groups after they are answered. A killed process loses refusals that it has not written yet. */
export type Refusals = {
  recording: <Answer>(request: RefusableRequest, submit: () => Promise<Answer>) => Promise<Answer>
  /** Resolves once all refusals of this process so far are written. Awaited before refusals are listed, and at shutdown. */
  settled: () => Promise<void>
}

export type Deps = Parts & { push: Push | null; paymentQueue: PaymentQueue; batchQueue: BatchQueue; refusals: Refusals }
