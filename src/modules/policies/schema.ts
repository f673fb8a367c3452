import { z } from 'zod'
import { BodyIn, IdIn, IdOut, MinorIn, MinorOut, Name, RecordOut, TimeOut } from '../../http/wire.ts'
import {
  approvalProofs,
  duplicateAnswers,
  newPayeeAnswers,
  outcomes,
  payeeVerificationAnswers,
} from '../../lib/policy-answers.ts'
import { verificationStatuses } from '../../lib/verification.ts'
import { type PolicyField, type PolicyWireField, policyFields } from '../../policy/fields.ts'
import { sourceKinds } from '../../policy/types.ts'
import { CreatorOut } from '../creators.ts'
import { PaymentType } from '../payment-type.ts'

const about = (field: PolicyField) => ({ description: policyFields[field].meaning })

export const policyInput = {
  payment_types: z.array(PaymentType).max(100).nullish().meta(about('paymentTypes')),
  beneficiary_ids: z.array(IdIn('beneficiary')).max(500).nullish().meta(about('beneficiaryIds')),
  per_payment_limit_minor: MinorIn.nullish().meta(about('perPaymentLimitMinor')),
  daily_limit_minor: MinorIn.nullish().meta(about('dailyLimitMinor')),
  monthly_limit_minor: MinorIn.nullish().meta(about('monthlyLimitMinor')),
  total_limit_minor: MinorIn.nullish().meta(about('totalLimitMinor')),
  approval_threshold_minor: MinorIn.nullish().meta(about('approvalThresholdMinor')),
  required_approval_count: z.number().int().min(0).max(10).nullish().meta(about('requiredApprovalCount')),
  separation_of_duties: z.boolean().nullish().meta(about('separationOfDuties')),
  approval_proof: z.enum(approvalProofs).nullish().meta(about('approvalProof')),
  approver_ids: z.array(IdIn('account')).max(20).nullish().meta(about('approverIds')),
  duplicate_window_seconds: z.number().int().min(0).max(604_800).nullish().meta(about('duplicateWindowSeconds')),
  on_duplicate: z.enum(duplicateAnswers).nullish().meta(about('onDuplicate')),
  new_payees: z.enum(newPayeeAnswers).nullish().meta(about('newPayees')),
  payee_verification: z.enum(payeeVerificationAnswers).nullish().meta(about('payeeVerification')),
} satisfies Record<PolicyWireField, z.ZodType>

const policyOutput = {
  payment_types: z.array(z.string()).meta(about('paymentTypes')),
  beneficiary_ids: z.array(IdOut('beneficiary')).meta(about('beneficiaryIds')),
  per_payment_limit_minor: MinorOut.nullable(),
  daily_limit_minor: MinorOut.nullable(),
  monthly_limit_minor: MinorOut.nullable(),
  total_limit_minor: MinorOut.nullable(),
  approval_threshold_minor: MinorOut.nullable(),
  required_approval_count: z.number().int(),
  separation_of_duties: z.boolean(),
  approval_proof: z.enum(approvalProofs),
  approver_ids: z.array(IdOut('account')).meta(about('approverIds')),
  duplicate_window_seconds: z.number().int().nullable(),
  on_duplicate: z.enum(duplicateAnswers).nullable(),
  new_payees: z.enum(newPayeeAnswers).nullable(),
  payee_verification: z.enum(payeeVerificationAnswers).nullable().meta(about('payeeVerification')),
} satisfies Record<PolicyWireField, z.ZodType>

export const CreatePolicy = BodyIn('CreateSpendingPolicy', { name: Name, ...policyInput })
export type CreatePolicy = z.output<typeof CreatePolicy>

/** Omitted fields keep their values; null removes a limit. */
export const UpdatePolicy = BodyIn('UpdateSpendingPolicy', {
  version: z.number().int().positive(),
  name: Name.optional(),
  ...policyInput,
})
export type UpdatePolicy = z.output<typeof UpdatePolicy>

const PolicyChange = z
  .object({
    ...policyOutput,
    // Null returns the count to its default.
    required_approval_count: z.number().int().nullable(),
    name: z.string(),
    status: z.literal('archived'),
  })
  .partial()
export type PolicyChange = z.output<typeof PolicyChange>

/** A requested change as the database stores it. */
export const StoredChange = z.union([z.strictObject({ status: z.literal('archived') }), UpdatePolicy.omit({ version: true })])

export const TermsOut = RecordOut('SpendingPolicyTerms', { name: z.string(), ...policyOutput })

const PendingChange = z.object({
  change: PolicyChange.describe('The requested fields with their new values, or `status: archived`.'),
  before: TermsOut.describe('The complete current terms.'),
  result: TermsOut.nullable().describe('The complete terms that take effect. Null if the policy is archived.'),
  version: z
    .number()
    .int()
    .describe(
      'The policy version that the change is based on. A newer version gives the change a new result, a new text and another 24 hours. If the result is no longer less strict, the change is withdrawn.',
    ),
  message: z.string().describe('The text to sign with a passkey or wallet, if the policy requires signatures.'),
  requested_by: IdOut('account').describe('The account that requested it.'),
  effective_at: TimeOut.describe('When the change takes effect, unless it is confirmed or withdrawn earlier.'),
  confirmable: z
    .boolean()
    .optional()
    .describe('Whether the caller can confirm the change now. Present only when one policy is read.'),
})

export const Policy = RecordOut('SpendingPolicy', {
  id: IdOut('policy'),
  name: z.string(),
  binds: z
    .union([z.literal('all'), z.object({ grant_id: IdOut('grant') })])
    .describe(
      'The payments that the policy applies to: all, or those of one key or agent and its descendants. A key or agent that has `policy.create` without `policy.manage` can bind only itself.',
    ),
  ...policyOutput,
  warnings: z
    .array(z.object({ code: z.enum(['custom_payment_types']), message: z.string() }))
    .describe('Warnings about payments that the policy may seem to stop but does not.'),
  status: z.enum(['active', 'archived']),
  version: z.number().int(),
  pending_change: PendingChange.nullable().describe(
    'A pending change that makes the policy less strict. It takes effect at `effective_at`, or when another approver confirms it.',
  ),
  usage: z
    .object({ today_minor: MinorOut, month_minor: MinorOut, total_minor: MinorOut.optional() })
    .optional()
    .describe(
      'The amounts that count towards the limits of the current day and month. With a total limit, also the amount since that limit was first set. Present only when policies are read.',
    ),
  created_by: CreatorOut,
  changed_by: CreatorOut.nullable().describe('The person, key or agent that made the last change; null if there is none.'),
  created_at: TimeOut,
  updated_at: TimeOut,
})
export type Policy = z.output<typeof Policy>

const TraceSource = z.object({ kind: z.enum(sourceKinds), id: z.string().nullable(), name: z.string().nullable() })
export const Outcome = z.enum(outcomes)

export const TraceEntry = z.object({
  source: TraceSource,
  rule: z.string().meta({ documentedAs: 'Rule' }),
  outcome: Outcome,
  limit_minor: MinorOut.optional(),
  used_minor: MinorOut.optional(),
  requested_minor: MinorOut.optional(),
  resets_at: TimeOut.optional(),
  required_approvals: z.number().int().optional(),
  eligible_approvers: z.number().int().optional(),
  approver_ids: z.array(IdOut('account')).optional().describe('The only accounts whose approvals count.'),
  approval_proof: z.literal('signature').optional().describe('Only approvals signed by a passkey or wallet count.'),
  decisive: z.boolean().optional().describe('Whether this rule decided the outcome.'),
})

export const Warning = z.discriminatedUnion('code', [
  z.object({ code: z.literal('possible_duplicate'), payment_id: IdOut('payment'), created_at: TimeOut }),
  z.object({
    code: z
      .enum(['new_payee', 'changed_payee'])
      .describe(
        'A key or an agent created the beneficiary, or its name was changed recently, and no person has confirmed it since.',
      ),
    by: CreatorOut,
    at: TimeOut,
  }),
  z.object({
    code: z.literal('similar_name').describe('The unpaid beneficiary’s name resembles that of a paid one with another number.'),
    beneficiary_id: IdOut('beneficiary'),
    name: z.string(),
  }),
  z.object({
    code: z.literal('name_differs').describe('The name in the request differs from the name of the paid beneficiary.'),
    name: z.string(),
    given_name: z.string().describe('The name in the request.'),
  }),
  z.object({
    code: z.literal('name_mismatch').describe('The rail has not confirmed the name of the beneficiary.'),
    verification: z.enum(verificationStatuses),
    name: z.string().nullable().describe('The name that the rail reports.'),
  }),
  z.object({
    code: z.literal('unusual_amount').describe('The amount is more than five times the usual amount for the beneficiary.'),
    typical_amount_minor: MinorOut,
  }),
])

export const Decision = RecordOut('Decision', {
  outcome: Outcome,
  explanation: z
    .string()
    .describe(
      'An explanation for people, in one sentence. It names the first rule that refused the payment, or the rule that requires the most approvals.',
    ),
  required_approvals: z.number().int(),
  separation_of_duties: z.boolean(),
  approval_proof: z.enum(approvalProofs).describe('The approvals that count: `any`, or only those with a `signature`.'),
  approver_ids: z
    .array(IdOut('account'))
    .optional()
    .describe('The only accounts whose approvals count; absent for all approvers.'),
  approvals_by_mandate: z.number().int(),
  policy_versions: z.array(z.object({ id: IdOut('policy'), version: z.number().int() })),
  warnings: z.array(Warning).describe('Warnings that do not refuse the payment.'),
  rules_considered: z.number().int().optional().describe('The number of evaluated rules.'),
  trace: z
    .array(TraceEntry)
    .optional()
    .describe(
      'The rules in the order of evaluation. If there are more than 50, only the decisive rules and those closest to their limit. Omitted in lists and events.',
    ),
  remedy: z
    .object({
      max_amount_minor: MinorOut.nullable().describe(
        'The largest amount that would not be denied now if nothing else changed. It may need an approval. Null if there is none, or only one below an approval threshold that the requested amount reaches.',
      ),
      changes_count: z.number().int().describe('The number of rules that must change for the payment to pass.'),
      changes: z
        .array(z.object({ source: TraceSource, rule: z.string().meta({ documentedAs: 'Rule' }), to_minor: MinorOut.optional() }))
        .describe('The rules that must change, up to 50. All rules counted in `changes_count` must change.'),
      passes_at: TimeOut.nullable().describe('When the same payment would pass without a change; null if never.'),
    })
    .optional()
    .describe(
      'The smallest change that would let the payment pass. A denied payment passes if it is no longer denied: it may then need an approval. A payment that is not denied passes if it needs no approval.',
    ),
})
export type Decision = z.output<typeof Decision>
