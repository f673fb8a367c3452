import type { Body, Query, Schemas } from './route-types.ts'
import type { CallOptions, Csv } from './transport.ts'
import { type WaitOptions, waitUntil } from './wait-for.ts'

export type PaymentBatch = Schemas['PaymentBatch']
export type PaymentBatchPreview = Schemas['PaymentBatchPreview']
export type PaymentBatchStatus = PaymentBatch['status']

/** What concerns every row of a list in CSV. */
export type ListOptions = { name?: string; execute_at?: string; duplicates_intended?: boolean }

// The API's own type: a status that is new there fails the type check until it stands here.
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

/** How a batch is sent: a body in JSON, or a text in CSV. */
export type Post = (
  input: { query: CreateQuery } & ({ body: NewBatch } | { csv: Csv }),
  options?: CallOptions,
) => Promise<unknown>

const queryOf = ({ duplicates_intended: meant, ...others }: ListOptions): CreateQuery => ({
  ...others,
  ...(meant !== undefined && { duplicates_intended: meant ? 'true' : 'false' }),
})

/** `onRead`: called with every state that is read while waiting. */
type BatchWaitOptions = WaitOptions<PaymentBatchStatus> & { onRead?: (batch: PaymentBatch) => void }

/** Creating batches, and waiting for them. `get` reads one. */
export const createBatches = (post: Post, get: (id: string, options: CallOptions) => Promise<PaymentBatch>) => ({
  /** Makes many payments with one approval: all of them or none. With the same idempotency key it is one batch. */
  create: (body: NewBatch, options?: CallOptions) => post({ body, query: {} }, options) as Promise<PaymentBatch>,
  /** The same from a list in CSV, as a spreadsheet saves it: names, phones or beneficiary ids, amounts. */
  fromCsv: (csv: Csv, list: ListOptions = {}, options?: CallOptions) =>
    post({ csv, query: queryOf(list) }, options) as Promise<PaymentBatch>,
  /** Checks a batch in the same way and creates nothing. Throws what `create` would throw. */
  check: (body: NewBatch, options?: CallOptions) =>
    post({ body, query: { dry_run: 'true' } }, options) as Promise<PaymentBatchPreview>,
  /** Checks a list in CSV. Throws what `fromCsv` would throw. */
  checkCsv: (csv: Csv, list: ListOptions = {}, options?: CallOptions) =>
    post({ csv, query: { ...queryOf(list), dry_run: 'true' } }, options) as Promise<PaymentBatchPreview>,
  /** Waits until every payment of the batch has ended. `counts` then says how. */
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
