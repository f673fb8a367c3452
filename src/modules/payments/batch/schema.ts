import { z } from 'zod'
import { paymentBatchStatuses, paymentStatuses } from '../../../db/transitions.ts'
import { PageQuery, UpdatedAfter } from '../../../http/pagination.ts'
import { fieldErrors } from '../../../http/sentences.ts'
import { BodyIn, bounded, IdIn, IdOut, Metadata, MinorOut, Name, TimeOut } from '../../../http/wire.ts'
import type { FieldError } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { formatMinor } from '../../../lib/money.ts'
import { phoneRail } from '../../../lib/rail-names.ts'
import { verificationStatuses } from '../../../lib/verification.ts'
import { CreateBeneficiary } from '../../beneficiaries/schema.ts'
import { CreatePayment, Fact } from '../schema.ts'

export const maxItems = 1_000
/** Enough for all items with all of their fields. */
export const maxBatchBytes = 1024 * 1024

const beneficiary = CreateBeneficiary.shape

export const BatchItem = CreatePayment.omit({ mandate_id: true, execute_at: true, duplicate_of: true, on_duplicate: true })
  .extend({
    beneficiary_id: CreatePayment.shape.beneficiary_id
      .optional()
      .describe('The beneficiary to pay. If omitted, `display_name` and `destination` identify the beneficiary.'),
    display_name: beneficiary.display_name
      .optional()
      .describe(
        'The name of the beneficiary, if `beneficiary_id` is omitted. If a beneficiary with this destination (and `payment_rail`, if given) exists, it is paid under its own name, with the warning `name_differs` if the names differ. Otherwise one is created with this name.',
      ),
    payment_rail: beneficiary.payment_rail.optional().describe(`The rail of the destination. Defaults to \`${phoneRail}\`.`),
    destination: beneficiary.destination.optional(),
    bank_code: beneficiary.bank_code,
    legal_name: beneficiary.legal_name,
    type: beneficiary.type.optional().describe('The type of a new beneficiary. Defaults to `individual`.'),
  })
  .meta({ id: 'PaymentBatchItem' })
export type BatchItem = z.output<typeof BatchItem>

const beneficiaryKeys = ['display_name', 'payment_rail', 'destination', 'bank_code', 'legal_name', 'type'] as const
const requiredWithoutId = { display_name: 'whose account is paid', destination: 'the phone or the account that is paid' }

const beneficiaryProblems = (row: unknown): FieldError[] => {
  if (typeof row !== 'object' || row === null) return []
  const has = (name: string): boolean => Reflect.get(row, name) != null
  if (has('beneficiary_id'))
    return beneficiaryKeys
      .filter(has)
      .map((path) => ({ path, message: 'does not go with beneficiary_id: leave one of the two out' }))
  return Object.entries(requiredWithoutId).flatMap(([path, meaning]) =>
    has(path) ? [] : [{ path, message: `is required where there is no beneficiary_id: ${meaning}` }],
  )
}

const Destination = z.object(
  BatchItem.pick({ payment_rail: true, destination: true, bank_code: true, account_reference: true }).shape,
)
export type Destination = z.output<typeof Destination>

/** One answer lists every faulty item. `to`: null if a field of the destination is wrong. `sent`: the item as sent. */
export type BatchEntry = { item: BatchItem } | { faults: FieldError[]; to: Destination | null; sent?: unknown }

/** The item in the form in which a request sends it. */
export const sentForm = (item: BatchItem) => ({ ...item, amount_minor: formatMinor(item.amount_minor) })

const BatchEntry = BatchItem.transform((item): BatchEntry => {
  const faults = beneficiaryProblems(item)
  return faults.length > 0 ? { faults, to: item, sent: sentForm(item) } : { item }
}).catch(({ error, input }) => ({
  faults: [...fieldErrors(error.issues), ...beneficiaryProblems(input)],
  to: Destination.safeParse(input).data ?? null,
  sent: input,
}))

export const RepeatedItem = CreatePayment.pick({
  amount_minor: true,
  payment_type: true,
  purpose_code: true,
  account_reference: true,
  narrative: true,
  metadata: true,
})
  .partial()
  .extend({
    batch_index: z
      .number()
      .int()
      .min(0)
      .max(maxItems - 1)
      .describe('The index of the item in the earlier batch, from 0.'),
    omit: z.boolean().optional().describe('Whether to leave the item out of the new batch.'),
  })
  .meta({
    id: 'RepeatedBatchItem',
    description:
      'A change to an item of the earlier batch, for use with `again`. Everything except the beneficiary can change. Omitted fields keep their value, `null` clears a field, and `metadata` replaces all metadata.',
  })

export const CreatePaymentBatch = BodyIn('CreatePaymentBatch', {
  again: IdIn('payment_batch')
    .optional()
    .describe(
      'An earlier batch of the workspace to pay again. Each item keeps its beneficiary, amount, reference, narrative and purpose; `items` contains only the changes. Items with an archived or frozen beneficiary are refused by name; leave them out with `omit`.',
    ),
  items: z
    .array(z.union([RepeatedItem, BatchEntry]))
    .min(1)
    .max(maxItems)
    .optional()
    .describe('The items to pay. Required without `again`; with `again`, only the changes.'),
  name: Name.nullish(),
  execute_at: CreatePayment.shape.execute_at,
  duplicates_intended: z
    .boolean()
    .optional()
    .describe(
      'Set to `true` if items intentionally look like payments of the last 72 hours or like each other. Otherwise such a batch fails with 409 and `reason: "possible_duplicate"`, which lists the items and the earlier payments. Nothing is created.',
    ),
  metadata: Metadata.optional(),
})
export type CreatePaymentBatch = z.output<typeof CreatePaymentBatch>
/** A request with all items complete, including those repeated from an earlier batch. */
export type CompleteBatch = Omit<CreatePaymentBatch, 'again' | 'items'> & { items: BatchEntry[]; againOf: Uuid | null }

export const CreatePaymentBatchQuery = z.object({
  name: CreatePaymentBatch.shape.name.unwrap().unwrap().optional().describe('The name of the batch, for a CSV body.'),
  execute_at: bounded(64)
    .optional()
    .meta({ format: 'date-time', description: 'When the batch is evaluated and sent, for a CSV body.' }),
  duplicates_intended: z.enum(['true', 'false']).optional().describe('Same as in a JSON body, for a CSV body.'),
  dry_run: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'Set to `true` to check everything without creating anything. The answer is 200 with the batch that would be created.',
    ),
})

export const PaymentBatch = z
  .object({
    id: IdOut('payment_batch'),
    workspace_id: IdOut('workspace'),
    name: z.string().nullable(),
    status: z.enum(paymentBatchStatuses),
    items_count: z.number().int(),
    total_minor: MinorOut.describe('The total amount, without fees.'),
    fees_minor: MinorOut.describe('The total fees.'),
    currency: z.string(),
    merkle_root: z
      .string()
      .describe(
        'The Merkle root of the items in their order (RFC 6962), in hexadecimal. An approval of the batch approves exactly these items.',
      ),
    counts: z
      .record(z.string(), z.number().int())
      .describe(`The number of items in each status: ${paymentStatuses.join(', ')}. Statuses without items are omitted.`),
    execute_at: TimeOut.nullable().describe('When a scheduled batch is evaluated and sent.'),
    again_of: IdOut('payment_batch').nullable().describe('The earlier batch that this one repeats.'),
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
      'Payments that are requested together and approved as one. The items of a batch are payments: `GET /v1/payments?batch_id=`.',
  })
export type PaymentBatch = z.output<typeof PaymentBatch>

const BatchWarnings = z
  .array(z.object({ code: z.enum(['columns_ignored']), message: z.string() }))
  .describe('Warnings about the whole batch, such as ignored CSV columns. New codes may be added.')

export const CreatedPaymentBatch = PaymentBatch.extend({
  warnings: BatchWarnings.optional().describe('Warnings about the whole batch. Absent if release 0.4.0 or earlier created it.'),
}).meta({ id: 'CreatedPaymentBatch' })

export const PaymentBatchPreview = PaymentBatch.pick({ items_count: true, total_minor: true, fees_minor: true, currency: true })
  .extend({
    status: z.enum(['scheduled', 'pending_approval', 'processing']).describe('The status that the batch would have.'),
    required_approvals: z.number().int(),
    new_payees_count: z.number().int().describe('The number of beneficiaries that would be created.'),
    warnings: BatchWarnings,
    items: z.array(
      z.object({
        index: z.number().int(),
        row: z.number().int().nullable().describe('Only for CSV batches: the row number, as a spreadsheet shows it.'),
        payee: z.enum(['known', 'new']),
        beneficiary_id: IdOut('beneficiary').nullable().describe('The beneficiary; null if it would be created.'),
        display_name: z.string().describe('The name that is used for the payment.'),
        destination_mask: z.string(),
        amount_minor: MinorOut,
        outcome: z.enum(['allow', 'require_approval']),
        warnings: z.array(z.string()).describe('The warning codes, as in the decision of a payment.'),
        given_name: z.string().nullable().describe('The name in the request, if it differs (warning `name_differs`).'),
        looks_like: z
          .object({
            payment_id: IdOut('payment').nullable(),
            index: z.number().int().nullable(),
            row: z.number().int().nullable().describe('Only for CSV batches: the row number, as a spreadsheet shows it.'),
            created_at: TimeOut,
          })
          .nullable()
          .describe(
            'The earlier payment or earlier item with the same payee, amount and reference (warning `possible_duplicate`). Without `duplicates_intended`, the batch is refused.',
          ),
      }),
    ),
  })
  .meta({ id: 'PaymentBatchPreview', description: 'The result of a dry run: the batch that would be created.' })
export type PaymentBatchPreview = z.output<typeof PaymentBatchPreview>

export const PaymentBatchLines = z
  .object({
    batch_id: IdOut('payment_batch'),
    merkle_root: z.string().describe('The Merkle root that an approval of the batch approves (RFC 6962), in hexadecimal.'),
    lines: z.array(
      z.object({
        payment_id: IdOut('payment'),
        row: z.number().int().nullable().describe('Only for CSV batches: the row number, as a spreadsheet shows it.'),
        leaf: z
          .string()
          .describe(
            'The item as the root binds it (RFC 8785): its index, beneficiary, destination, amount and reference. Hash it byte for byte.',
          ),
        given_name: z.string().nullable().describe('The name in the request, if it differs (warning `name_differs`).'),
        verification: z.enum(verificationStatuses).describe('The result of comparing the name with the registered name.'),
        last_amount_minor: MinorOut.nullable().describe(
          'The previous amount to the same destination; null for the first payment.',
        ),
        facts: z.array(Fact).describe('Dangerous or unusual facts about this item, the most severe first.'),
      }),
    ),
  })
  .meta({
    id: 'PaymentBatchLines',
    description: 'All lines of a batch in order. Approvers can compute the root from these lines.',
  })
export type PaymentBatchLines = z.output<typeof PaymentBatchLines>

export const ListPaymentBatches = PageQuery.extend({
  status: z.enum(paymentBatchStatuses).optional(),
  idempotency_key: bounded(255).min(1).optional(),
  q: bounded(120).min(1).optional().describe('Part of the name of the batch; case is ignored.'),
  updated_after: UpdatedAfter,
})
