import { z } from 'zod'
import { Assertion } from '../../../auth/passkey.ts'
import { WalletAddress, WalletSignature } from '../../../auth/wallet-schemas.ts'
import { approvalChoices } from '../../../db/tables/approvals.ts'
import { approvalStatuses } from '../../../db/transitions.ts'
import { PageQuery } from '../../../http/pagination.ts'
import { BodyIn, IdOut, MessageDigest, MinorOut, RecordOut, SignedMinorOut, Text, TimeOut } from '../../../http/wire.ts'
import { approvalProofs } from '../../../lib/policy-answers.ts'
import { railNames } from '../../../lib/rail-names.ts'
import { Verification } from '../../beneficiaries/schema.ts'
import { CreatorOut } from '../../creators.ts'
import { Decision, Warning } from '../../policies/schema.ts'
import { PaymentBatch } from '../batch/schema.ts'
import { Fact, Payment } from '../schema.ts'

const ExecuteAt = TimeOut.nullish().describe('When a scheduled payment is sent; null if it is sent once it is approved.')

export const PaymentSummary = Payment.pick({
  ...{ id: true, workspace_id: true, status: true, amount_minor: true, fee_minor: true, currency: true },
  ...{ payment_type: true, account_reference: true, narrative: true, initiated_by: true, decision: true, created_at: true },
})
  .extend({
    beneficiary: Payment.shape.beneficiary.extend({
      payment_rail: z.enum(railNames),
      first_payment: z.boolean().describe('This is the first payment from this workspace to this destination.'),
    }),
    execute_at: ExecuteAt,
  })
  .meta({ id: 'PaymentSummary' })

export type PaymentSummary = z.output<typeof PaymentSummary>

export const BatchSummary = PaymentBatch.pick({
  ...{ id: true, workspace_id: true, status: true, name: true, items_count: true },
  ...{ total_minor: true, fees_minor: true, currency: true, merkle_root: true, created_at: true },
})
  .extend({ execute_at: ExecuteAt, initiated_by: CreatorOut })
  .meta({ id: 'PaymentBatchSummary' })

const ApprovalWarning = z.union([
  Warning,
  z.object({
    code: z.literal('first_payment').describe('This is the first payment from this workspace to this destination.'),
  }),
  z.object({
    code: z
      .literal('may_have_been_sent')
      .describe(
        'The payment was requested before the database lost writes and may already have been sent, so the provider could pay it twice. If approved, it is not sent: its outcome is `unknown` until an administrator has checked the provider statement.',
      ),
    payments_count: z.number().int().describe('The number of affected payments in the batch; 1 for a single payment.'),
  }),
])

const ApprovalContext = RecordOut('ApprovalContext', {
  payee: z
    .object({
      payments_count: z.number().int().describe('The number of successful payments from this workspace to this destination.'),
      last_paid_at: TimeOut.nullable().describe('When the destination was last paid; null if never.'),
      typical_amount_minor: MinorOut.nullable().describe(
        'The median amount of the last nine payments; null if fewer than three.',
      ),
      verification: Verification,
    })
    .nullable()
    .describe('Information about the beneficiary; null for a batch.'),
  warnings: z.array(ApprovalWarning).describe('The warnings of the decision, and anything unusual about the payment.'),
  available_after_minor: SignedMinorOut.nullable().describe(
    'The available balance after this payment, or after all payments of the batch; null if the caller may not see the balance. Scheduled payments hold no money yet, so this is today’s balance minus their amount, which can be negative.',
  ),
  eligible_approvers: z
    .array(IdOut('account'))
    .describe('Members who can still decide this approval. If it requires signatures, only those with a passkey or a wallet.'),
})

export const Notification = RecordOut('ApprovalNotification', {
  account_id: IdOut('account'),
  event: z
    .enum(['mailed', 'mail_refused', 'pushed', 'opened'])
    .describe('`mail_refused`: the address rejected the email. `opened`: the person read the approval while it was pending.'),
  at: TimeOut,
})

export const Approval = RecordOut('Approval', {
  id: IdOut('approval'),
  status: z.enum(approvalStatuses),
  payment: PaymentSummary.nullable().describe('The payment to decide; null for a batch.'),
  batch: BatchSummary.nullable().describe('The batch to decide as a whole; null for a single payment.'),
  required_approvals: z.number().int(),
  approvals_given: z.number().int().describe('The number of approvals that count so far.'),
  separation_of_duties: z.boolean(),
  approver_ids: z
    .array(IdOut('account'))
    .nullable()
    .describe('The only accounts that can decide, if policies name any. Null means everyone with a suitable role.'),
  approval_proof: z.enum(approvalProofs).describe('`signature`: only approvals signed by a passkey or a wallet count.'),
  facts: z.array(Fact).describe('The warnings in the text to sign, by type. Approvers must see all of them before deciding.'),
  decisions: z.array(
    z.object({
      account_id: IdOut('account'),
      decision: z.enum(approvalChoices),
      via: z.enum(['credential', 'signature', 'passkey']),
      reason: z.string().nullable(),
      signer: z.string().nullable(),
      decided_at: TimeOut,
      voided_at: TimeOut.nullable().describe(
        'When the decision stopped counting. The account can no longer decide or decided otherwise, or its wallet, passkey or mandate ended. Or the text changed because of a new registered name.',
      ),
    }),
  ),
  notifications: z
    .array(Notification)
    .optional()
    .describe(
      'The emails and push notifications about the approval and the accounts that opened it, oldest first. Present only when reading a single approval.',
    ),
  signing: z.object({ approve: z.string(), reject: z.string() }).describe('The messages to sign, byte for byte.'),
  expires_at: TimeOut,
  created_at: TimeOut,
  context: ApprovalContext.optional().describe(
    'The context for the decision. In a list, present only while the approval is pending.',
  ),
  decision_now: Decision.optional().describe(
    'The decision that current rules and usage would give now. Present only when reading a pending approval of a single payment. `payment.decision` is the decision that required the approval.',
  ),
  refusal_now: z
    .object({
      error: z.string().describe('The error code, such as `beneficiary_frozen` or `workspace_frozen`.'),
      message: z.string(),
    })
    .optional()
    .describe(
      'The error that approving would return now, because of a freeze or a disabled capability. Stops of the beneficiary and of the requester refuse only the last required approval. Present only while the approval is pending. Rejecting is still possible. In lists, only freezes of your account and of the workspace are reported.',
    ),
})
export type Approval = z.output<typeof Approval>

const Choice = z.enum(approvalChoices)
const Reason = Text(500).nullish()

export const Decide = BodyIn('DecideApproval', {
  decision: Choice,
  reason: Reason,
  message_digest: MessageDigest.optional().describe(
    'The SHA-256 of the text that was shown, `signing.approve` or `signing.reject`, in hexadecimal. If the text has changed since, the decision is rejected with 409, reason `message_changed`.',
  ),
  passkey: Assertion.optional().describe(
    'An assertion of one of your passkeys, with user verification. The challenge is the SHA-256 of the canonical text, `signing.approve` or `signing.reject`.',
  ),
})
export type Decide = z.output<typeof Decide>

export const DecideBySignature = BodyIn('DecideApprovalBySignature', {
  decision: Choice,
  signature: WalletSignature,
  address: WalletAddress.optional().describe('The wallet that signed. Required only for contract wallets.'),
  reason: Reason,
})
export type DecideBySignature = z.output<typeof DecideBySignature>

export const MessageQuery = z.object({ decision: Choice.default('approve') })
export const SigningMessage = RecordOut('SigningMessage', {
  message: z.string(),
  facts: z.array(Fact).describe('The warnings in the text, by type, the most severe first.'),
  payments_count: z.number().int().describe('The number of payments that are decided together.'),
  currency: z.string(),
  status: z.enum(approvalStatuses).describe('The result of the approval. It does not show who decided.'),
  expires_at: TimeOut,
})
export const ListApprovals = PageQuery.extend({ status: z.enum(approvalStatuses).optional() })
