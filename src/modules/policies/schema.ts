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
import { MakerOut } from '../makers.ts'
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
  payment_types: z.array(z.string()),
  beneficiary_ids: z.array(IdOut('beneficiary')),
  per_payment_limit_minor: MinorOut.nullable(),
  daily_limit_minor: MinorOut.nullable(),
  monthly_limit_minor: MinorOut.nullable(),
  total_limit_minor: MinorOut.nullable(),
  approval_threshold_minor: MinorOut.nullable(),
  required_approval_count: z.number().int(),
  separation_of_duties: z.boolean(),
  approval_proof: z.enum(approvalProofs),
  approver_ids: z.array(IdOut('account')),
  duplicate_window_seconds: z.number().int().nullable(),
  on_duplicate: z.enum(duplicateAnswers).nullable(),
  new_payees: z.enum(newPayeeAnswers).nullable(),
  payee_verification: z.enum(payeeVerificationAnswers).nullable().meta(about('payeeVerification')),
} satisfies Record<PolicyWireField, z.ZodType>

export const CreatePolicy = BodyIn('CreateSpendingPolicy', { name: Name, ...policyInput })
export type CreatePolicy = z.output<typeof CreatePolicy>

/** Fields that are left out stay as they are; null removes a limit. */
export const UpdatePolicy = BodyIn('UpdateSpendingPolicy', {
  version: z.number().int().positive(),
  name: Name.optional(),
  ...policyInput,
})
export type UpdatePolicy = z.output<typeof UpdatePolicy>

const PolicyChange = z
  .object({
    ...policyOutput,
    required_approval_count: z.number().int().nullable(),
    name: z.string(),
    status: z.literal('archived'),
  })
  .partial()
export type PolicyChange = z.output<typeof PolicyChange>

export const StoredChange = z.union([z.strictObject({ status: z.literal('archived') }), UpdatePolicy.omit({ version: true })])

export const TermsOut = RecordOut('SpendingPolicyTerms', { name: z.string(), ...policyOutput })

const PendingChange = z.object({
  change: PolicyChange.describe('The fields that were asked for, with their new values, or `status: archived`.'),
  before: TermsOut.describe('The terms as they are, whole.'),
  result: TermsOut.nullable().describe(
    'The terms that take effect, whole: nothing is derived later. Null: the policy is archived.',
  ),
  version: z
    .number()
    .int()
    .describe(
      'The version that the change was laid over. Another version gives it a new result, a new text and another 24 hours; a result that is no looser is withdrawn.',
    ),
  message: z.string().describe('The text that a passkey or wallet signs to confirm it, where the policy asks for signatures.'),
  requested_by: IdOut('account').describe('The account that asked for it.'),
  effective_at: TimeOut.describe('When it takes effect, unless it is confirmed or withdrawn before.'),
})

export const Policy = RecordOut('SpendingPolicy', {
  id: IdOut('policy'),
  name: z.string(),
  binds: z
    .union([z.literal('all'), z.object({ grant_id: IdOut('grant') })])
    .describe(
      'Whose payments it applies to: of all, or of one key or agent and those below it. A key or agent that has policy.create and not policy.manage binds only itself.',
    ),
  ...policyOutput,
  warnings: z
    .array(z.object({ code: z.enum(['custom_payment_types']), message: z.string() }))
    .describe('What the policy does not stop, although it may seem to.'),
  status: z.enum(['active', 'archived']),
  version: z.number().int(),
  pending_change: PendingChange.nullable().describe(
    'A change that makes the policy less strict, and waits: it holds at `effective_at`, or when another approver confirms it.',
  ),
  usage: z
    .object({ today_minor: MinorOut, month_minor: MinorOut, total_minor: MinorOut.optional() })
    .optional()
    .describe(
      'What counts towards its limits in the current day and month, and, where it has a total limit, in all since that was first set. Only where policies are read.',
    ),
  created_by: MakerOut,
  changed_by: MakerOut.nullable().describe('Who changed it last; null if no one has.'),
  created_at: TimeOut,
  updated_at: TimeOut,
})
export type Policy = z.output<typeof Policy>

const TraceSource = z.object({
  kind: z.enum(sourceKinds),
  id: z.string().nullable(),
  name: z.string().nullable(),
})
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
  approval_proof: z.literal('signature').optional().describe('Only approvals by passkey or wallet count.'),
  decisive: z.boolean().optional().describe('This rule decided the outcome.'),
})

export const Warning = z.discriminatedUnion('code', [
  z.object({ code: z.literal('possible_duplicate'), payment_id: IdOut('payment'), created_at: TimeOut }),
  z.object({
    code: z
      .enum(['new_payee', 'changed_payee'])
      .describe(
        'A key or an agent created the beneficiary, or its name was changed a short time ago, and no person has confirmed it since.',
      ),
    by: MakerOut,
    at: TimeOut,
  }),
  z.object({
    code: z
      .literal('similar_name')
      .describe('It was never paid, and its name looks like that of a beneficiary with another number, which was.'),
    beneficiary_id: IdOut('beneficiary'),
    name: z.string(),
  }),
  z.object({
    code: z
      .literal('name_differs')
      .describe('The row of a list calls the payee by another name than it has here. It is paid by its destination.'),
    name: z.string(),
    given_name: z.string().describe('The name in the list.'),
  }),
  z.object({
    code: z.literal('name_mismatch').describe('The rail has not confirmed the name of the beneficiary.'),
    verification: z.enum(verificationStatuses),
    name: z.string().nullable().describe('The name that the rail reports.'),
  }),
  z.object({
    code: z.literal('unusual_amount').describe('More than five times what the beneficiary usually gets.'),
    typical_amount_minor: MinorOut,
  }),
])

export const Decision = RecordOut('Decision', {
  outcome: Outcome,
  explanation: z
    .string()
    .describe(
      'For people, in one sentence: the rule that refused first, or of those that require approval the one that requires most.',
    ),
  required_approvals: z.number().int(),
  separation_of_duties: z.boolean(),
  approval_proof: z.enum(approvalProofs).describe('Which approvals count: any, or only those that a passkey or a wallet signed.'),
  approver_ids: z
    .array(IdOut('account'))
    .optional()
    .describe('The only accounts whose approvals count; left out where every approver’s do.'),
  approvals_by_mandate: z.number().int(),
  policy_versions: z.array(z.object({ id: IdOut('policy'), version: z.number().int() })),
  warnings: z.array(Warning).describe('What the decision does not refuse, and the caller should know.'),
  rules_considered: z.number().int().optional().describe('How many rules were evaluated.'),
  trace: z
    .array(TraceEntry)
    .optional()
    .describe(
      'The rules in the order of their evaluation: all, or of more than 50 the ones that decided and those nearest to their limit. Left out in lists and events.',
    ),
  remedy: z
    .object({
      max_amount_minor: MinorOut.nullable().describe(
        'The largest amount that no limit refuses now, with nothing else changed; it may need an approval. Null: there is none, every amount needs an approval, or it would be below a threshold that asks about the requested amount, or of a refused payment need more approvals than people can give.',
      ),
      changes_count: z.number().int().describe('How many rules must change for the payment to pass.'),
      changes: z
        .array(z.object({ source: TraceSource, rule: z.string().meta({ documentedAs: 'Rule' }), to_minor: MinorOut.optional() }))
        .describe('These rules, at most the first 50; all that are counted must change.'),
      passes_at: TimeOut.nullable().describe('When the same payment passes without a change; null for never.'),
    })
    .optional()
    .describe('The smallest change that would have let the payment pass.'),
})
export type Decision = z.output<typeof Decision>
