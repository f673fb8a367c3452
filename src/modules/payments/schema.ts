import { z } from 'zod'
import { lateSuccessResolutions } from '../../db/tables/payments.ts'
import { paymentStatuses } from '../../db/transitions.ts'
import { failureCodes } from '../../errors/failures.ts'
import { PageQuery, UpdatedAfter } from '../../http/pagination.ts'
import {
  BodyIn,
  bounded,
  IdIn,
  IdOut,
  Metadata,
  MinorIn,
  MinorOut,
  PositiveMinorIn,
  RecordOut,
  SeveralOf,
  Text,
  TimeIn,
  TimeOut,
  VisibleText,
} from '../../http/wire.ts'
import { factLevels, factTypes } from '../../lib/approval-facts.ts'
import { duplicateAnswers } from '../../lib/policy-answers.ts'
import { railNames } from '../../lib/rail-names.ts'
import { MakerOut } from '../makers.ts'
import { PaymentType } from '../payment-type.ts'
import { Decision } from '../policies/schema.ts'

const purposePattern = /^[A-Z]{4}$/

/** An external purpose code of ISO 20022. That list grows outside this service, so only the form is checked. */
const PurposeCode = bounded(100)
  .superRefine((text, context) => {
    if (purposePattern.test(text)) return
    const upper = text.trim().toUpperCase()
    const rule = 'must be an ISO 20022 purpose code, four capital letters such as SALA'
    context.addIssue({ code: 'custom', message: purposePattern.test(upper) ? `${rule}: send "${upper}"` : rule })
  })
  .meta({
    description: 'What the payment is for, as an external purpose code of ISO 20022.',
    example: 'SALA',
    maxLength: 4,
  })

export const CreatePayment = BodyIn('CreatePayment', {
  beneficiary_id: IdIn('beneficiary'),
  amount_minor: PositiveMinorIn,
  payment_type: PaymentType.optional().describe("Defaults to the beneficiary's rail."),
  purpose_code: PurposeCode.nullish().describe('What the payment is for, as an external purpose code of ISO 20022 such as SALA.'),
  account_reference: VisibleText(20).nullish(),
  narrative: Text(140).nullish(),
  mandate_id: IdIn('mandate').nullish(),
  metadata: Metadata.optional(),
  duplicate_of: IdIn('payment')
    .nullish()
    .describe(
      'A payment that this one repeats, which is meant: without it a 409 with `reason: "possible_duplicate"` may name that payment.',
    ),
  on_duplicate: z
    .enum(duplicateAnswers)
    .optional()
    .describe(
      'What this payment gets if it looks like an earlier one, besides what policies and the credential say. `confirm`: a 409, until `duplicate_of` names the earlier payment.',
    ),
  execute_at: TimeIn.nullish().describe(
    'When it is decided and sent, at most 90 days from now. Until then it is `scheduled`, holds no money and can be cancelled; an approval that it needs is asked for now.',
  ),
})
export type CreatePayment = z.output<typeof CreatePayment>

export const Payment = RecordOut('Payment', {
  id: IdOut('payment'),
  workspace_id: IdOut('workspace'),
  status: z.enum(paymentStatuses),
  amount_minor: MinorOut.describe('What the payee gets.'),
  fee_minor: MinorOut.describe(
    'The fee, charged in addition to the amount when the payment succeeds. Set when the payment is created; "0" if there is none.',
  ),
  currency: z.string(),
  batch_id: IdOut('payment_batch').nullable(),
  execute_at: TimeOut.nullable().describe('When a scheduled payment is decided and sent.'),
  batch_index: z.number().int().nullable().describe('Its place in its batch, from 0.'),
  batch_row: z.number().int().nullable().describe('Of a list in CSV: its row in the file, as a spreadsheet numbers it.'),
  beneficiary_id: IdOut('beneficiary'),
  beneficiary: z
    .object({ id: IdOut('beneficiary'), display_name: z.string(), destination_mask: z.string() })
    .describe('Who is paid, as the beneficiary was called when the payment was created.'),
  payment_type: z.string(),
  payment_rail: z.enum(railNames),
  purpose_code: z.string().nullable().describe('What the payment is for, as an external purpose code of ISO 20022 such as SALA.'),
  account_reference: z.string().nullable(),
  narrative: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  idempotency_key: z.string().nullable().describe('The `Idempotency-Key` of the request that created it.'),
  mandate_id: IdOut('mandate').nullable(),
  approval_id: IdOut('approval').nullable(),
  initiated_by: MakerOut,
  decision: Decision,
  provider_receipt: z.string().nullable(),
  failure_code: z.enum(failureCodes).nullable(),
  failure_message: z.string().nullable(),
  provider_code: z.string().nullable().describe("The rail's own code."),
  late_success: z
    .object({ receipt: z.string().nullable(), amount_minor: MinorOut, at: TimeOut })
    .nullable()
    .describe(
      'Proof of payment that came after the payment had failed and its hold was released. The status stays `failed`; an administrator books it.',
    ),
  created_at: TimeOut,
  updated_at: TimeOut,
  completed_at: TimeOut.nullable(),
  outcome_check: z
    .object({
      last_at: TimeOut.nullable().describe('When the rail was last asked how it ended.'),
      next_at: TimeOut.nullable().describe('When it is asked next; null where only a person can resolve it.'),
    })
    .optional()
    .describe('Where one payment or an administrator’s list is read, and only while its outcome is `unknown`.'),
})
export type Payment = z.output<typeof Payment>

const Statuses = SeveralOf(z.enum(paymentStatuses))

const AccountReference = bounded(20)
  .min(1)
  .optional()
  .describe('The whole reference; case and spaces do not matter. At a paybill: the payments to one account.')

export const ListPaymentsTo = PageQuery.extend({ account_reference: AccountReference })

export const ListPayments = PageQuery.extend({
  status: Statuses.optional().describe('One or several: `?status=processing&status=unknown`, or with commas.'),
  batch_id: IdIn('payment_batch').optional(),
  batch_items: z
    .enum(['all', 'first'])
    .optional()
    .describe('`first`: of each batch only its first item, for a list that shows a batch as one row. `all` if it is left out.'),
  purpose_code: PurposeCode.optional(),
  beneficiary_id: IdIn('beneficiary').optional(),
  account_reference: AccountReference,
  grant_id: IdIn('grant').optional().describe('Initiated through this grant.'),
  initiator_account_id: IdIn('account').optional(),
  mandate_id: IdIn('mandate').optional(),
  idempotency_key: bounded(255).min(1).optional().describe('The payment that was created with this key.'),
  metadata: Metadata.optional().describe('`?metadata[invoice]=2026-0117`: all of the named keys have these values.'),
  amount_min_minor: MinorIn.optional(),
  amount_max_minor: MinorIn.optional(),
  q: bounded(100)
    .trim()
    .min(2)
    .optional()
    .describe(
      "Part of the payee's name, the reference or the narrative; a whole receipt or id; or an amount as people write it: `1963`, `KES 1,963.00`.",
    ),
  created_after: TimeIn.optional(),
  created_before: TimeIn.optional(),
  updated_after: UpdatedAfter,
})
export type ListPayments = z.output<typeof ListPayments>

export const SummarizePayments = ListPayments.omit({ limit: true, cursor: true, batch_items: true, updated_after: true }).extend({
  days: z.coerce.number().int().min(1).max(90).default(30).describe('How many days `by_day` lists, today included.'),
})

const Total = { count: z.number().int(), amount_minor: MinorOut }

export const PaymentTotals = z
  .object({
    currency: z.string(),
    ...Total,
    spent: z.object(Total).describe('Those of them that were sent or are being sent: what `by_day` counts too.'),
    by_status: z.array(z.object({ status: z.enum(paymentStatuses), ...Total })).describe('The same for each status.'),
    by_day: z
      .array(z.object({ date: z.string().meta({ format: 'date', example: '2026-01-31' }), ...Total }))
      .describe(
        'Payments that were sent or are being sent, by the day of their creation in the workspace’s time zone; oldest first.',
      ),
  })
  .meta({ id: 'PaymentTotals', description: 'The count and the sum of every payment that the filters match.' })
export type PaymentTotals = z.output<typeof PaymentTotals>

export const AdminPayment = Payment.extend({
  account_id: IdOut('account').describe("The workspace's owning account."),
  late_success_resolution: z
    .enum(lateSuccessResolutions)
    .nullable()
    .describe('Who bears a late success: the account was charged, or it was written off. Null until it is booked.'),
  waiting_adjustment_id: IdOut('ledger')
    .nullable()
    .describe(
      'An outcome at the cost of the organisation that waits for a second administrator, who resolves the payment in the same way.',
    ),
}).meta({ id: 'AdminPayment' })

export const FindPayments = PageQuery.extend({
  status: z.enum(paymentStatuses).optional(),
  attention: z
    .enum(['late_success'])
    .optional()
    .describe('Payments that an administrator must book: they had failed, and the provider paid them later.'),
  provider_receipt: bounded(100).trim().min(1).optional().describe("The provider's receipt of a payment, in any case."),
})

export type FindPayments = z.output<typeof FindPayments>

export const ResolvePayment = z
  .strictObject({
    outcome: z
      .enum(['succeeded', 'failed', ...lateSuccessResolutions])
      .describe(
        '`succeeded` or `failed` ends a payment that is `unknown`. `charged` takes the amount of a late success from the account; `written_off` leaves the account as it is.',
      ),
    evidence: bounded(2000)
      .trim()
      .min(1)
      .describe(
        "What the provider said and where it can be read again, for the audit log: its statement's line, a ticket. No phone or account number.",
      ),
    provider_receipt: bounded(100).trim().min(1).optional().describe("The provider's receipt, where it succeeded."),
  })
  .refine((body) => body.provider_receipt === undefined || body.outcome === 'succeeded', {
    path: ['provider_receipt'],
    message: 'belongs to a payment that succeeded',
  })
  .meta({ id: 'ResolvePayment' })
export type ResolvePayment = z.output<typeof ResolvePayment>

export const Fact = RecordOut('ApprovalFact', {
  type: z.enum(factTypes).describe('The heaviest come first.'),
  level: z
    .enum(factLevels)
    .describe('`danger` and `warning` are told before anything else. What is true of all payments of a batch is `info`.'),
  count: z.number().int().describe('How many payments of a batch, or beneficiaries by name; 1 for a payment.'),
  items: z
    .array(
      z.object({
        index: z.number().int().nullable().describe('The place in the batch; null for one payment and for names.'),
        beneficiary: z.string(),
        amount_minor: MinorOut,
        name: z
          .string()
          .nullable()
          .describe('The name that the rail reports or the list gives, of the similar beneficiary, or of the key or agent.'),
        other_amount_minor: MinorOut.nullable().describe('The usual or the last amount.'),
        at: TimeOut.nullable().describe('When the earlier payment, or the change, was made.'),
        payment_id: IdOut('payment').nullable().describe('The earlier payment that it looks like.'),
      }),
    )
    .describe('At most ten of them; none for `info`.'),
})
