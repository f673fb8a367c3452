import { z } from 'zod'
import { paymentBatchStatuses } from '../../../db/tables/payment-batches.ts'
import { paymentStatuses } from '../../../db/tables/payments.ts'
import { PageQuery } from '../../../http/pagination.ts'
import { IdOut, Metadata, MinorOut, TimeOut } from '../../../http/wire.ts'
import { CreatePayment } from '../schema.ts'

export const mostItems = 1_000

export const BatchItem = CreatePayment.omit({ mandate_id: true }).meta({ id: 'PaymentBatchItem' })
export type BatchItem = z.output<typeof BatchItem>

export const CreatePaymentBatch = z
  .strictObject({
    items: z.array(BatchItem).min(1).max(mostItems),
    name: z.string().trim().min(1).max(120).nullish(),
    metadata: Metadata.optional(),
  })
  .meta({ id: 'CreatePaymentBatch' })
export type CreatePaymentBatch = z.output<typeof CreatePaymentBatch>

export const PaymentBatch = z
  .object({
    id: IdOut('payment_batch'),
    workspace_id: IdOut('workspace'),
    name: z.string().nullable(),
    status: z.enum(paymentBatchStatuses),
    items_count: z.number().int(),
    total_minor: MinorOut,
    currency: z.string(),
    merkle_root: z.string().meta({
      description: 'RFC 6962, hexadecimal: over the items in their order. What approves the batch approves exactly these items.',
    }),
    counts: z.record(z.string(), z.number().int()).meta({
      description: `How many items have each status; one of ${paymentStatuses.join(', ')}. Statuses without items are left out.`,
    }),
    approval_id: IdOut('approval').nullable(),
    initiated_by: z.object({ account_id: IdOut('account'), grant_id: IdOut('grant').nullable() }),
    idempotency_key: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    created_at: TimeOut,
    updated_at: TimeOut,
    completed_at: TimeOut.nullable(),
  })
  .meta({
    id: 'PaymentBatch',
    description:
      'Payments that were asked for together and are approved as one. Its items are payments: `GET /v1/payments?batch_id=`.',
  })
export type PaymentBatch = z.output<typeof PaymentBatch>

export const ListPaymentBatches = PageQuery.extend({
  status: z.enum(paymentBatchStatuses).optional(),
  idempotency_key: z.string().min(1).max(255).optional(),
})
