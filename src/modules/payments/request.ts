import type { Principal } from '../../auth/principal.ts'
import type { MandateStanding } from '../../policy/types.ts'
import type { AccountQueue } from '../../queue/account-queue.ts'
import type { RecordAnswer } from '../../queue/record-keys.ts'
import type { Answered, WriteRequest } from '../../queue/write-path.ts'
import type { Parts } from '../parts.ts'
import type { Push } from '../push/send.ts'
import type { WholeBatch } from './batch/schema.ts'
import type { CreatePayment } from './schema.ts'

export type PaymentRequest = WriteRequest<Principal> & {
  principal: Principal
  input: CreatePayment
  /** What the chain of the wallet that signed the named mandate said before the transaction. */
  standing: MandateStanding
  /** The trace to which the request belongs: its batch may run in the trace of another request. */
  traceparent: string | null
}

export type CreatedPayment = Answered<RecordAnswer>

export type BatchRequest = WriteRequest<Principal> & {
  principal: Principal
  input: WholeBatch
  /** For a list in CSV, the row of each item as a spreadsheet numbers it. */
  rows: readonly number[] | null
  /** Titles of a list in CSV that are left out. */
  ignored: readonly string[]
  dryRun: boolean
  traceparent: string | null
}

export type PaymentQueue = AccountQueue<PaymentRequest, CreatedPayment>
export type BatchQueue = AccountQueue<BatchRequest, CreatedPayment>

export type Deciding = Pick<Parts, 'clock' | 'config' | 'derivations' | 'rails' | 'vault'>

export type MayBeRefused = Pick<PaymentRequest, 'principal' | 'input'> | Pick<BatchRequest, 'principal' | 'input' | 'dryRun'>

/** Refused payments are recorded in batches after their answer. What a process had not written when it was killed is lost. */
export type Refusals = {
  recording: <Answer>(request: MayBeRefused, submit: () => Promise<Answer>) => Promise<Answer>
  /** Resolves when everything that this process refused so far is written: before it is listed, and at the end. */
  settled: () => Promise<void>
}

export type Deps = Parts & { push: Push | null; paymentQueue: PaymentQueue; batchQueue: BatchQueue; refusals: Refusals }
