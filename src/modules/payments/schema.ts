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
import { CreatorOut } from '../creators.ts'
import { PaymentType } from '../payment-type.ts'
import { Decision } from '../policies/schema.ts'

const purposePattern = /^[A-Z]{4}$/

/** An ISO 20022 external purpose code. The external list grows, so only the format is checked. */
const PurposeCode = bounded(100)
  .superRefine((text, context) => {
    if (purposePattern.test(text)) return
    const upper = text.trim().toUpperCase()
    const rule = 'must be an ISO 20022 purpose code, four uppercase letters such as SALA'
    context.addIssue({ code: 'custom', message: purposePattern.test(upper) ? `${rule}: send "${upper}"` : rule })
  })
  .meta({
    description: 'The purpose of the payment, as an external purpose code of ISO 20022.',
    example: 'SALA',
    maxLength: 4,
  })

export const CreatePayment = BodyIn('CreatePayment', {
  beneficiary_id: IdIn('beneficiary'),
  amount_minor: PositiveMinorIn,
  payment_type: PaymentType.optional().describe('Defaults to the rail of the beneficiary.'),
  purpose_code: PurposeCode.nullish().describe('The purpose, as an external purpose code of ISO 20022 such as SALA.'),
  account_reference: VisibleText(20).nullish(),
  narrative: Text(140).nullish(),
  mandate_id: IdIn('mandate').nullish(),
  metadata: Metadata.optional(),
  duplicate_of: IdIn('payment')
    .nullish()
    .describe(
      'The earlier payment that this one intentionally repeats. Without it, the request may fail with 409 and `reason: "possible_duplicate"`.',
    ),
  on_duplicate: z
    .enum(duplicateAnswers)
    .optional()
    .describe(
      'The outcome if this payment looks like an earlier one, in addition to the rules of policies and the credential. `confirm` returns a 409 error until `duplicate_of` names the earlier payment.',
    ),
  execute_at: TimeIn.nullish().describe(
    'When the payment is evaluated and sent, up to 90 days from now. Until then it is `scheduled`, holds no money and can be cancelled. A required approval is requested immediately.',
  ),
})
export type CreatePayment = z.output<typeof CreatePayment>

export const Payment = RecordOut('Payment', {
  id: IdOut('payment'),
  workspace_id: IdOut('workspace'),
  status: z.enum(paymentStatuses),
  amount_minor: MinorOut.describe('The amount that the beneficiary receives.'),
  fee_minor: MinorOut.describe(
    'The fee, charged in addition to the amount when the payment succeeds. It is set when the payment is created; "0" if there is none.',
  ),
  currency: z.string(),
  batch_id: IdOut('payment_batch').nullable(),
  execute_at: TimeOut.nullable().describe('When a scheduled payment is evaluated and sent.'),
  batch_index: z.number().int().nullable().describe('The index of the payment in its batch, from 0.'),
  batch_row: z.number().int().nullable().describe('Only for CSV batches: the row number in the file, as a spreadsheet shows it.'),
  beneficiary_id: IdOut('beneficiary'),
  beneficiary: z
    .object({ id: IdOut('beneficiary'), display_name: z.string(), destination_mask: z.string() })
    .describe('The beneficiary, with its name when the payment was created.'),
  payment_type: z.string(),
  payment_rail: z.enum(railNames),
  purpose_code: z.string().nullable().describe('The purpose, as an external purpose code of ISO 20022 such as SALA.'),
  account_reference: z.string().nullable(),
  narrative: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  idempotency_key: z.string().nullable().describe('The `Idempotency-Key` of the request that created it.'),
  mandate_id: IdOut('mandate').nullable(),
  approval_id: IdOut('approval').nullable(),
  initiated_by: CreatorOut,
  decision: Decision,
  provider_receipt: z.string().nullable(),
  failure_code: z.enum(failureCodes).nullable(),
  failure_message: z.string().nullable(),
  provider_code: z.string().nullable().describe("The rail's own error code."),
  late_success: z
    .object({ receipt: z.string().nullable(), amount_minor: MinorOut, at: TimeOut })
    .nullable()
    .describe(
      'A success that the provider reported after the payment had failed and its hold was released. The status remains `failed`; an administrator books the late success.',
    ),
  created_at: TimeOut,
  updated_at: TimeOut,
  completed_at: TimeOut.nullable(),
  outcome_check: z
    .object({
      last_at: TimeOut.nullable().describe('When the rail was last asked for the outcome.'),
      next_at: TimeOut.nullable().describe('When the rail will be asked next; null if only a person can resolve the payment.'),
    })
    .optional()
    .describe(
      'The checks of the outcome. Present only while the payment is `unknown`, when reading one payment or the administrator’s list.',
    ),
})
export type Payment = z.output<typeof Payment>

const Statuses = SeveralOf(z.enum(paymentStatuses))

const AccountReference = bounded(20)
  .min(1)
  .optional()
  .describe('The whole account reference; case and spaces are ignored. For a paybill, this finds the payments to one account.')

export const ListPaymentsTo = PageQuery.extend({ account_reference: AccountReference })

export const ListPayments = PageQuery.extend({
  status: Statuses.optional().describe('One or more statuses: `?status=processing&status=unknown`, or separated by commas.'),
  batch_id: IdIn('payment_batch').optional(),
  batch_items: z
    .enum(['all', 'first'])
    .optional()
    .describe('`first` returns only the first item of each batch, for lists that show a batch as one row. Defaults to `all`.'),
  purpose_code: PurposeCode.optional(),
  beneficiary_id: IdIn('beneficiary').optional(),
  account_reference: AccountReference,
  grant_id: IdIn('grant').optional().describe('Only payments initiated through this grant.'),
  initiator_account_id: IdIn('account').optional(),
  mandate_id: IdIn('mandate').optional(),
  idempotency_key: bounded(255).min(1).optional().describe('Only the payment that was created with this key.'),
  metadata: Metadata.optional().describe('`?metadata[invoice]=2026-0117`: only payments whose metadata has all of these values.'),
  amount_min_minor: MinorIn.optional(),
  amount_max_minor: MinorIn.optional(),
  q: bounded(100)
    .trim()
    .min(2)
    .optional()
    .describe(
      "Part of the beneficiary's name, the reference or the narrative; a whole receipt or ID; or an amount as people write it: `1963`, `KES 1,963.00`.",
    ),
  created_after: TimeIn.optional(),
  created_before: TimeIn.optional(),
  updated_after: UpdatedAfter,
})
export type ListPayments = z.output<typeof ListPayments>

export const SummarizePayments = ListPayments.omit({ limit: true, cursor: true, batch_items: true, updated_after: true }).extend({
  days: z.coerce.number().int().min(1).max(90).default(30).describe('The number of days in `by_day`, including today.'),
})

const Total = { count: z.number().int(), amount_minor: MinorOut }

export const PaymentTotals = z
  .object({
    currency: z.string(),
    ...Total,
    spent: z.object(Total).describe('The payments that were sent or are being sent, as counted in `by_day`.'),
    by_status: z.array(z.object({ status: z.enum(paymentStatuses), ...Total })).describe('The count and total for each status.'),
    by_day: z
      .array(z.object({ date: z.string().meta({ format: 'date', example: '2026-01-31' }), ...Total }))
      .describe('Payments that were sent or are being sent, by creation day in the time zone of the workspace, oldest first.'),
  })
  .meta({ id: 'PaymentTotals', description: 'The count and total of all payments that match the filters.' })
export type PaymentTotals = z.output<typeof PaymentTotals>

export const AdminPayment = Payment.extend({
  account_id: IdOut('account').describe('The owning account of the workspace.'),
  late_success_resolution: z
    .enum(lateSuccessResolutions)
    .nullable()
    .describe('How a late success was booked: the account was charged, or the amount was written off. Null until it is booked.'),
  waiting_adjustment_id: IdOut('ledger')
    .nullable()
    .describe(
      'The pending adjustment for an outcome at the cost of the organisation. A second administrator confirms it by resolving the payment in the same way.',
    ),
}).meta({ id: 'AdminPayment' })

export const FindPayments = PageQuery.extend({
  status: z.enum(paymentStatuses).optional(),
  attention: z.enum(['late_success']).optional().describe('Only payments that failed and that the provider paid later.'),
  provider_receipt: bounded(100).trim().min(1).optional().describe("The provider's receipt of a payment; case is ignored."),
})

export type FindPayments = z.output<typeof FindPayments>

export const ResolvePayment = z
  .strictObject({
    outcome: z
      .enum(['succeeded', 'failed', ...lateSuccessResolutions])
      .describe(
        '`succeeded` or `failed` ends a payment that is `unknown`. `charged` charges a late success to the account; `written_off` does not.',
      ),
    evidence: VisibleText(2000).describe(
      "The provider's answer and its source, such as a statement line or a ticket, for the audit log. Do not include phone or account numbers.",
    ),
    provider_receipt: VisibleText(100).optional().describe("The provider's receipt, if the payment succeeded."),
  })
  .refine((body) => body.provider_receipt === undefined || body.outcome === 'succeeded', {
    path: ['provider_receipt'],
    message: 'belongs to a payment that succeeded',
  })
  .meta({ id: 'ResolvePayment' })
export type ResolvePayment = z.output<typeof ResolvePayment>

export const Fact = RecordOut('ApprovalFact', {
  type: z.enum(factTypes).describe('The type of the fact. The most severe facts come first.'),
  level: z.enum(factLevels).describe('`danger` and `warning` come first. Facts about all payments of a batch are `info`.'),
  count: z.number().int().describe('The number of payments of a batch, or of beneficiaries by name; 1 for a single payment.'),
  items: z
    .array(
      z.object({
        index: z.number().int().nullable().describe('The index in the batch; null for a single payment and for names.'),
        beneficiary: z.string(),
        amount_minor: MinorOut,
        name: z
          .string()
          .nullable()
          .describe(
            'The name that the rail reports or the CSV file contains, or the name of the similar beneficiary, key or agent.',
          ),
        other_amount_minor: MinorOut.nullable().describe('The usual amount or the last amount.'),
        at: TimeOut.nullable().describe('When the earlier payment or the change was made.'),
        payment_id: IdOut('payment').nullable().describe('The earlier payment that this one looks like.'),
      }),
    )
    .describe('Up to ten affected items; empty for `info`.'),
})
