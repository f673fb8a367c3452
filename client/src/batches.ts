import type { Body, Query, Schemas } from './route-types.ts'
import type { CallOptions, Csv } from './transport.ts'
import { type WaitOptions, waitUntil } from './wait-for.ts'

export type PaymentBatch = Schemas['PaymentBatch']
export type PaymentBatchPreview = Schemas['PaymentBatchPreview']
export type PaymentBatchStatus = PaymentBatch['status']

/** Options that apply to every row of a CSV batch. */
export type ListOptions = { name?: string; execute_at?: string; duplicates_intended?: boolean }

// Keyed by the API's own type, so that a new status fails the type check until it is added here.
const finalStatuses: Readonly<Record<PaymentBatchStatus, boolean>> = {
  scheduled: false,
  pending_approval: false,
  processing: false,
  completed: true,
  failed: true,
  rejected: true,
  expired: true,
  cancelled: true,
}

type NewBatch = Body<'/v1/payment-batches', 'post'>
type CreateQuery = Query<'/v1/payment-batches', 'post'>

/** Sends a batch: a JSON body or CSV text. */
export type Post = (
  input: { query: CreateQuery } & ({ body: NewBatch } | { csv: Csv }),
  options?: CallOptions,
) => Promise<unknown>

const queryOf = ({ duplicates_intended: meant, ...others }: ListOptions): CreateQuery => ({
  ...others,
  ...(meant !== undefined && { duplicates_intended: meant ? 'true' : 'false' }),
})

/** `onRead`: called with each state that is read while waiting. */
type BatchWaitOptions = WaitOptions<PaymentBatchStatus> & { onRead?: (batch: PaymentBatch) => void }

/** Methods to create batches and wait for them. `get` reads one batch. */
export const createBatches = (post: Post, get: (id: string, options: CallOptions) => Promise<PaymentBatch>) => ({
  /** Creates many payments with one approval, all or none. Calls with the same idempotency key create only one batch. */
  create: (body: NewBatch, options?: CallOptions) => post({ body, query: {} }, options) as Promise<PaymentBatch>,
  /** Creates a batch from CSV as spreadsheets save it: names, phones or beneficiary ids, amounts. */
  fromCsv: (csv: Csv, list: ListOptions = {}, options?: CallOptions) =>
    post({ csv, query: queryOf(list) }, options) as Promise<PaymentBatch>,
  /** Checks a batch without creating it. Throws the same errors as `create`. */
  check: (body: NewBatch, options?: CallOptions) =>
    post({ body, query: { dry_run: 'true' } }, options) as Promise<PaymentBatchPreview>,
  /** Checks a CSV batch without creating it. Throws the same errors as `fromCsv`. */
  checkCsv: (csv: Csv, list: ListOptions = {}, options?: CallOptions) =>
    post({ csv, query: { ...queryOf(list), dry_run: 'true' } }, options) as Promise<PaymentBatchPreview>,
  /** Waits until every payment of the batch has ended. `counts` has the number of payments in each status. */
  waitFor: (id: string, { stopAt = [], onRead, ...options }: BatchWaitOptions = {}) =>
    waitUntil(
      async () => {
        const batch = await get(id, options.signal ? { signal: options.signal } : {})
        onRead?.(batch)
        return batch
      },
      ({ status }) => finalStatuses[status] || stopAt.includes(status),
      options,
    ),
})
