import { z } from 'zod'
import { Assertion } from '../../../auth/passkey.ts'
import { WalletAddress, WalletSignature } from '../../../auth/wallet.ts'
import { approvalChoices } from '../../../db/tables/approvals.ts'
import { approvalStatuses, paymentBatchStatuses, paymentStatuses } from '../../../db/transitions.ts'
import { PageQuery } from '../../../http/pagination.ts'
import { BodyIn, IdOut, MessageDigest, MinorOut, RecordOut, SignedMinorOut, Text, TimeOut } from '../../../http/wire.ts'
import { approvalProofs } from '../../../lib/policy-answers.ts'
import { railNames } from '../../../lib/rail-names.ts'
import { Verification } from '../../beneficiaries/schema.ts'
import { Decision, Warning } from '../../policies/schema.ts'
import { Fact } from '../schema.ts'

const ExecuteAt = TimeOut.nullish().describe('When what is scheduled is decided and sent; null for as soon as it is approved.')

export const PaymentSummary = RecordOut('PaymentSummary', {
  id: IdOut('payment'),
  workspace_id: IdOut('workspace'),
  status: z.enum(paymentStatuses),
  amount_minor: MinorOut,
  fee_minor: MinorOut.describe('The fee, charged in addition to the amount.'),
  currency: z.string(),
  beneficiary: z.object({
    id: IdOut('beneficiary'),
    display_name: z.string(),
    payment_rail: z.enum(railNames),
    destination_mask: z.string(),
    first_payment: z.boolean().describe('Nothing has been paid to this destination from this workspace yet.'),
  }),
  payment_type: z.string(),
  account_reference: z.string().nullable(),
  narrative: z.string().nullable(),
  execute_at: ExecuteAt,
  initiated_by: z.object({ account_id: IdOut('account'), grant_id: IdOut('grant').nullable(), label: z.string().nullable() }),
  decision: Decision,
  created_at: TimeOut,
})

export type PaymentSummary = z.output<typeof PaymentSummary>

export const BatchSummary = RecordOut('PaymentBatchSummary', {
  id: IdOut('payment_batch'),
  workspace_id: IdOut('workspace'),
  status: z.enum(paymentBatchStatuses),
  name: z.string().nullable(),
  items_count: z.number().int(),
  total_minor: MinorOut.describe('The sum of the amounts, without fees.'),
  fees_minor: MinorOut.describe('The sum of the fees.'),
  currency: z.string(),
  merkle_root: z.string(),
  execute_at: ExecuteAt,
  initiated_by: z.object({ account_id: IdOut('account'), grant_id: IdOut('grant').nullable(), label: z.string().nullable() }),
  created_at: TimeOut,
})

const ApprovalWarning = z.union([
  Warning,
  z.object({
    code: z.literal('first_payment').describe('Nothing has been paid to this destination from this workspace yet.'),
  }),
  z.object({
    code: z
      .literal('may_have_been_sent')
      .describe(
        'It was asked for before the database lost writes, and may have been paid in them, where the provider might pay it twice. Approved, it is not sent: its outcome is unknown until an administrator has compared it with the statement.',
      ),
    payments_count: z.number().int().describe('How many payments of the batch it is about; 1 for a payment.'),
  }),
])

const ApprovalContext = RecordOut('ApprovalContext', {
  payee: z
    .object({
      payments_count: z.number().int().describe('Payments from this workspace that reached this destination.'),
      last_paid_at: TimeOut.nullable().describe('When the payee was last paid; null if never.'),
      typical_amount_minor: MinorOut.nullable().describe(
        'The median of the last nine of those payments; null where there are fewer than three.',
      ),
      verification: Verification,
    })
    .nullable()
    .describe('What is known of the payee; null for a batch.'),
  warnings: z
    .array(ApprovalWarning)
    .describe('What an approver should look at first: the warnings of the decision, and what is unusual about the payment.'),
  available_after_minor: SignedMinorOut.describe(
    'The available balance of the paying account after this payment, or after all payments of the batch. For what is scheduled nothing is held yet: what today’s balance would leave, below zero where it does not cover it.',
  ),
  eligible_approvers: z
    .array(IdOut('account'))
    .describe('Members who can still decide this approval; where it asks for signatures, those with a passkey or a wallet.'),
})

export const Notification = RecordOut('ApprovalNotification', {
  account_id: IdOut('account'),
  event: z
    .enum(['mailed', 'mail_refused', 'pushed', 'opened'])
    .describe('`mail_refused`: the address refused the mail. `opened`: the person read the approval while it waited.'),
  at: TimeOut,
})

export const Approval = RecordOut('Approval', {
  id: IdOut('approval'),
  status: z.enum(approvalStatuses),
  payment: PaymentSummary.nullable().describe('Null where a batch is decided.'),
  batch: BatchSummary.nullable().describe('The batch that is decided as a whole; null for one payment.'),
  required_approvals: z.number().int(),
  approvals_given: z.number().int().describe('How many approvals count so far.'),
  separation_of_duties: z.boolean(),
  approver_ids: z
    .array(IdOut('account'))
    .nullable()
    .describe('The only accounts that decide it, where policies name some; null: everyone whose role may.'),
  approval_proof: z
    .enum(approvalProofs)
    .describe('`signature`: only approvals that a passkey or a wallet signed count in `approvals_given`.'),
  facts: z.array(Fact).describe('What the text to sign warns of, by type: everything that an approver must see before deciding.'),
  decisions: z.array(
    z.object({
      account_id: IdOut('account'),
      decision: z.enum(approvalChoices),
      via: z.enum(['credential', 'signature', 'passkey']),
      reason: z.string().nullable(),
      signer: z.string().nullable(),
      decided_at: TimeOut,
      voided_at: TimeOut.nullable().describe(
        'When it stopped counting: its account may no longer decide, its wallet was unlinked, its passkey was removed, its mandate was revoked, its account decided otherwise, or its text was made again because the name at the rail had changed.',
      ),
    }),
  ),
  notifications: z
    .array(Notification)
    .optional()
    .describe('Only where one approval is read: who was mailed and pushed about it and who opened it, the oldest first.'),
  signing: z.object({ approve: z.string(), reject: z.string() }).describe('The canonical messages, to be signed as they are.'),
  expires_at: TimeOut,
  created_at: TimeOut,
  context: ApprovalContext.optional().describe('Where approvals that wait are read: what helps to decide them.'),
  decision_now: Decision.optional().describe(
    'Only where one approval of one payment is read while it waits: how the payment would be decided now, by the rules and with the usage of this moment. `payment.decision` is the one that asked for the approval.',
  ),
  refusal_now: z
    .object({
      error: z.string().describe('The code of the refusal, such as `beneficiary_frozen` or `workspace_frozen`.'),
      message: z.string(),
    })
    .optional()
    .describe(
      'Only while it waits, and only where your approval would be refused now: a freeze or a disabled capability stops it until that is lifted. It can still be rejected. A list of approvals has it for freezes of your account and of the workspace alone.',
    ),
})
export type Approval = z.output<typeof Approval>

const Choice = z.enum(approvalChoices)
const Reason = Text(500).nullish()

export const Decide = BodyIn('DecideApproval', {
  decision: Choice,
  reason: Reason,
  message_digest: MessageDigest.optional().describe(
    'The SHA-256 of the text that was shown, `signing.approve` or `signing.reject`, in hexadecimal. Where the text has changed since, the decision is refused: 409, reason `message_changed`.',
  ),
  passkey: Assertion.optional().describe(
    'An assertion of one of your passkeys, with its user verified. Its challenge is the SHA-256 of the canonical text, `signing.approve` or `signing.reject`.',
  ),
})
export type Decide = z.output<typeof Decide>

export const DecideBySignature = BodyIn('DecideApprovalBySignature', {
  decision: Choice,
  signature: WalletSignature,
  address: WalletAddress.optional().describe('The signing wallet; needed for contract wallets only.'),
  reason: Reason,
})
export type DecideBySignature = z.output<typeof DecideBySignature>

export const MessageQuery = z.object({ decision: Choice.default('approve') })
export const SigningMessage = RecordOut('SigningMessage', {
  message: z.string(),
  facts: z.array(Fact).describe('What the text warns of, by type, the heaviest first.'),
  payments_count: z.number().int().describe('How many payments are decided together.'),
  currency: z.string(),
  status: z.enum(approvalStatuses).describe('The result alone, not who decided.'),
  expires_at: TimeOut,
})
export const ListApprovals = PageQuery.extend({ status: z.enum(approvalStatuses).optional() })
