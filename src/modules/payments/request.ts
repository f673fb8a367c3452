import type { Principal } from '../../auth/principal.ts'
import type { MandateSignatureStatus } from '../../policy/types.ts'
import type { AccountQueue } from '../../queue/account-queue.ts'
import type { RecordAnswer } from '../../queue/record-keys.ts'
import type { Answered, WriteRequest } from '../../queue/write-path.ts'
import type { Parts } from '../parts.ts'
import type { Push } from '../push/send.ts'
import type { WholeBatch } from './batch/schema.ts'
import type { PaymentRecord } from './queries.ts'
import type { CreatePayment } from './schema.ts'

export type PaymentRequest = WriteRequest<Principal> & {
  principal: Principal
  input: CreatePayment
  /** The chain's answer about the wallet that signed the named mandate, from before the transaction. */
  mandateSignature: MandateSignatureStatus
  /** Trace of the request: its group may run in the trace of another request. */
  traceparent: string | null
}

/** `status`: of a payment that this request created. */
export type CreatedPayment = Answered<RecordAnswer & { status?: PaymentRecord['status'] }>

export type BatchRequest = WriteRequest<Principal> & {
  principal: Principal
  input: WholeBatch
  /** Spreadsheet row of each item of a CSV batch. */
  rows: readonly number[] | null
  /** Titles of ignored CSV columns. */
  ignored: readonly string[]
  dryRun: boolean
  traceparent: string | null
}

export type PaymentQueue = AccountQueue<PaymentRequest, CreatedPayment>
export type BatchQueue = AccountQueue<BatchRequest, CreatedPayment>

export type Deciding = Pick<Parts, 'clock' | 'config' | 'derivations' | 'rails' | 'vault'>

export type MayBeRefused =
  | ({ kind: 'payment' } & Pick<PaymentRequest, 'principal' | 'input'>)
  | ({ kind: 'batch' } & Pick<BatchRequest, 'principal' | 'input' | 'dryRun'>)

/** Refused payments are recorded in groups after their answer. A killed process loses those that it had not written. */
export type Refusals = {
  recording: <Answer>(request: MayBeRefused, submit: () => Promise<Answer>) => Promise<Answer>
  /** Resolves when every refusal of this process so far is written: before refusals are listed, and at shutdown. */
  settled: () => Promise<void>
}

export type Deps = Parts & { push: Push | null; paymentQueue: PaymentQueue; batchQueue: BatchQueue; refusals: Refusals }
