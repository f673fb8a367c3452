import { z } from 'zod'
import { paymentBatchStatuses, paymentStatuses } from '../../../db/transitions.ts'
import { PageQuery, UpdatedAfter } from '../../../http/pagination.ts'
import { fieldErrors } from '../../../http/sentences.ts'
import { BodyIn, bounded, IdIn, IdOut, Metadata, MinorOut, TimeOut } from '../../../http/wire.ts'
import type { FieldError } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { phoneRail } from '../../../lib/rail-names.ts'
import { verificationStatuses } from '../../../lib/verification.ts'
import { CreateBeneficiary } from '../../beneficiaries/schema.ts'
import { CreatePayment, Fact } from '../schema.ts'

export const maxItems = 1_000

const payee = CreateBeneficiary.shape

export const BatchItem = CreatePayment.omit({ mandate_id: true, execute_at: true, duplicate_of: true, on_duplicate: true })
  .extend({
    beneficiary_id: CreatePayment.shape.beneficiary_id
      .optional()
      .describe('Who is paid. Or leave it out, and name the payee by `display_name` and `destination`.'),
    display_name: payee.display_name
      .optional()
      .describe(
        'Without `beneficiary_id`: the name of the payee. The payee with this destination is paid under its own name, with the warning `name_differs` where that is another; where there is none, one is created with this name.',
      ),
    payment_rail: payee.payment_rail.optional().describe(`Of the destination; \`${phoneRail}\` if it is left out.`),
    destination: payee.destination.optional(),
    bank_code: payee.bank_code,
    legal_name: payee.legal_name,
    type: payee.type.optional().describe('Of a new payee; `individual` if it is left out.'),
  })
  .meta({ id: 'PaymentBatchItem' })
export type BatchItem = z.output<typeof BatchItem>

const payeeNames = ['display_name', 'payment_rail', 'destination', 'bank_code', 'legal_name', 'type'] as const
const requiredOfPayee = { display_name: 'whose account is paid', destination: 'the phone or the account that is paid' }

const payeeProblems = (row: unknown): FieldError[] => {
  if (typeof row !== 'object' || row === null) return []
  const has = (name: string): boolean =>
    Object.entries(row).some(([key, value]) => key === name && value !== undefined && value !== null)
  if (has('beneficiary_id'))
    return payeeNames.filter(has).map((path) => ({ path, message: 'does not go with beneficiary_id: leave one of the two out' }))
  return Object.entries(requiredOfPayee).flatMap(([path, what]) =>
    has(path) ? [] : [{ path, message: `is required where there is no beneficiary_id: ${what}` }],
  )
}

const Destination = z.object(
  BatchItem.pick({ payment_rail: true, destination: true, bank_code: true, account_reference: true }).shape,
)
export type Destination = z.output<typeof Destination>

/**
 * All items are checked: one answer names every faulty one. `to`: null if a field of the destination is wrong. `given`: as sent.
 */
export type BatchEntry = { item: BatchItem } | { faults: FieldError[]; to: Destination | null; given?: unknown }

const BatchEntry = BatchItem.transform((item): BatchEntry => {
  const faults = payeeProblems(item)
  return faults.length > 0 ? { faults, to: item, given: item } : { item }
}).catch(({ error, input }) => ({
  faults: [...fieldErrors(error.issues), ...payeeProblems(input)],
  to: Destination.safeParse(input).data ?? null,
  given: input,
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
      .describe('The place of the item in the earlier batch, from 0.'),
    omit: z.boolean().optional().describe('`true`: it is not paid again.'),
  })
  .meta({
    id: 'RepeatedBatchItem',
    description:
      'With `again`: what differs from an item of the earlier batch, which is everything but its beneficiary. A field that is left out stays, `null` clears it, and `metadata` replaces all of it.',
  })

export const CreatePaymentBatch = BodyIn('CreatePaymentBatch', {
  again: IdIn('payment_batch')
    .optional()
    .describe(
      'A batch of the workspace: its items are paid again, each to the same beneficiary with the same amount, reference, narrative and purpose. `items` then names what differs. An item whose beneficiary is archived or frozen is refused by name; leave it out by `omit`.',
    ),
  items: z
    .array(z.union([RepeatedItem, BatchEntry]))
    .min(1)
    .max(maxItems)
    .optional()
    .describe('What is paid; required without `again`. With `again`: only what differs.'),
  name: bounded(120).trim().min(1).nullish(),
  execute_at: CreatePayment.shape.execute_at,
  duplicates_intended: z
    .boolean()
    .optional()
    .describe(
      '`true`: items that look like payments of the last 72 hours, or like each other, are meant. Without it a 409 with `reason: "possible_duplicate"` names them and the earlier payments, and nothing is created.',
    ),
  metadata: Metadata.optional(),
})
export type CreatePaymentBatch = z.output<typeof CreatePaymentBatch>
/** Every item complete, including those of an earlier batch. */
export type WholeBatch = Omit<CreatePaymentBatch, 'again' | 'items'> & { items: BatchEntry[]; againOf: Uuid | null }

export const CreatePaymentBatchQuery = z.object({
  name: CreatePaymentBatch.shape.name.unwrap().unwrap().optional().describe('The name of the batch, for a body in CSV.'),
  execute_at: bounded(64)
    .optional()
    .meta({ format: 'date-time', description: 'When the batch is decided and sent, for a body in CSV.' }),
  duplicates_intended: z.enum(['true', 'false']).optional().describe('As in a body in JSON, for a body in CSV.'),
  dry_run: z
    .enum(['true', 'false'])
    .optional()
    .describe('`true`: checks everything in the same way, creates nothing, and answers 200 with what would be created.'),
})

export const PaymentBatch = z
  .object({
    id: IdOut('payment_batch'),
    workspace_id: IdOut('workspace'),
    name: z.string().nullable(),
    status: z.enum(paymentBatchStatuses),
    items_count: z.number().int(),
    total_minor: MinorOut.describe('The sum of the amounts, without fees.'),
    fees_minor: MinorOut.describe('The sum of the fees.'),
    currency: z.string(),
    merkle_root: z
      .string()
      .describe('RFC 6962, hexadecimal: over the items in their order. What approves the batch approves exactly these items.'),
    counts: z
      .record(z.string(), z.number().int())
      .describe(`How many items have each status; one of ${paymentStatuses.join(', ')}. Statuses without items are left out.`),
    execute_at: TimeOut.nullable().describe('When a scheduled batch is decided and sent.'),
    again_of: IdOut('payment_batch').nullable().describe('The earlier batch that this one pays again.'),
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

export const PaymentBatchPreview = z
  .object({
    status: z.enum(['scheduled', 'pending_approval', 'processing']).describe('The status that the batch would have.'),
    items_count: z.number().int(),
    total_minor: MinorOut.describe('The sum of the amounts, without fees.'),
    fees_minor: MinorOut.describe('The sum of the fees.'),
    currency: z.string(),
    required_approvals: z.number().int(),
    new_payees_count: z.number().int().describe('How many payees would be created.'),
    warnings: z
      .array(z.object({ code: z.enum(['columns_ignored']), message: z.string() }))
      .describe('Of the list as a whole: which columns of a CSV are left out. Open list.'),
    items: z.array(
      z.object({
        index: z.number().int(),
        row: z.number().int().nullable().describe('Of a list in CSV, as a spreadsheet numbers it.'),
        payee: z.enum(['known', 'new']),
        beneficiary_id: IdOut('beneficiary').nullable().describe('Null for a payee that would be created.'),
        display_name: z.string().describe('The name under which it is paid.'),
        destination_mask: z.string(),
        amount_minor: MinorOut,
        outcome: z.enum(['allow', 'require_approval']),
        warnings: z.array(z.string()).describe('The codes of the warnings, as a payment has them in its decision.'),
        given_name: z
          .string()
          .nullable()
          .describe('The name in the list, where it is not the name of the payee (warning `name_differs`).'),
        looks_like: z
          .object({
            payment_id: IdOut('payment').nullable(),
            index: z.number().int().nullable(),
            row: z.number().int().nullable().describe('Of a list in CSV, as a spreadsheet numbers it.'),
            created_at: TimeOut,
          })
          .nullable()
          .describe(
            'The earlier payment, or the earlier item of the same list, with the same payee, amount and reference (warning `possible_duplicate`): without `duplicates_intended` the list is refused.',
          ),
      }),
    ),
  })
  .meta({ id: 'PaymentBatchPreview', description: 'What a dry run found: the batch that would be created.' })
export type PaymentBatchPreview = z.output<typeof PaymentBatchPreview>

export const PaymentBatchLines = z
  .object({
    batch_id: IdOut('payment_batch'),
    merkle_root: z.string().describe('RFC 6962, hexadecimal: what an approval of the batch is about.'),
    lines: z.array(
      z.object({
        payment_id: IdOut('payment'),
        row: z.number().int().nullable().describe('Of a list in CSV, as a spreadsheet numbers it.'),
        leaf: z
          .string()
          .describe(
            'The item as the root binds it (RFC 8785): its place, payee, destination, amount and reference. Hash it byte for byte.',
          ),
        given_name: z
          .string()
          .nullable()
          .describe('The name in the list, where it is not the name of the payee (warning `name_differs`).'),
        verification: z.enum(verificationStatuses).describe("How the payee's name compares with the one that the rail reports."),
        last_amount_minor: MinorOut.nullable().describe(
          'What was paid to the same destination the previous time; null for the first payment to it.',
        ),
        facts: z.array(Fact).describe('What is dangerous or unusual about this item, the heaviest first.'),
      }),
    ),
  })
  .meta({
    id: 'PaymentBatchLines',
    description: 'Every line of a batch in its order, so that whoever approves the root can compute it from what they see.',
  })
export type PaymentBatchLines = z.output<typeof PaymentBatchLines>

export const ListPaymentBatches = PageQuery.extend({
  status: z.enum(paymentBatchStatuses).optional(),
  idempotency_key: bounded(255).min(1).optional(),
  q: bounded(120).min(1).optional().describe('A part of the name of the list, whatever its case.'),
  updated_after: UpdatedAfter,
})
