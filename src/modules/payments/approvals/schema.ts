import { z } from 'zod'
import { Assertion } from '../../../auth/passkey.ts'
import { WalletAddress, WalletSignature } from '../../../auth/wallet.ts'
import { approvalChoices } from '../../../db/tables/approvals.ts'
import { approvalStatuses, paymentBatchStatuses, paymentStatuses } from '../../../db/transitions.ts'
import { PageQuery } from '../../../http/pagination.ts'
import { IdOut, MessageDigest, MinorOut, SignedMinorOut, Text, TimeOut } from '../../../http/wire.ts'
import { approvalProofs } from '../../../lib/policy-answers.ts'
import { railNames } from '../../../lib/rail-names.ts'
import { Verification } from '../../beneficiaries/schema.ts'
import { Decision, Warning } from '../../policies/schema.ts'
import { Fact } from '../schema.ts'

const ExecuteAt = TimeOut.nullish().meta({
  description: 'When what is scheduled is decided and sent; null for as soon as it is approved.',
})

export const PaymentSummary = z
  .object({
    id: IdOut('payment'),
    workspace_id: IdOut('workspace'),
    status: z.enum(paymentStatuses),
    amount_minor: MinorOut,
    fee_minor: MinorOut.meta({ description: 'What the service charges besides.' }),
    currency: z.string(),
    beneficiary: z.object({
      id: IdOut('beneficiary'),
      display_name: z.string(),
      payment_rail: z.enum(railNames),
      destination_mask: z.string(),
      first_payment: z.boolean().meta({ description: 'Nothing has been paid to this destination from this workspace yet.' }),
    }),
    payment_type: z.string(),
    account_reference: z.string().nullable(),
    narrative: z.string().nullable(),
    execute_at: ExecuteAt,
    initiated_by: z.object({ account_id: IdOut('account'), grant_id: IdOut('grant').nullable(), label: z.string().nullable() }),
    decision: Decision,
    created_at: TimeOut,
  })
  .meta({ id: 'PaymentSummary' })

export type PaymentSummary = z.output<typeof PaymentSummary>

export const BatchSummary = z
  .object({
    id: IdOut('payment_batch'),
    workspace_id: IdOut('workspace'),
    status: z.enum(paymentBatchStatuses),
    name: z.string().nullable(),
    items_count: z.number().int(),
    total_minor: MinorOut.meta({ description: 'The sum of the amounts, without fees.' }),
    fees_minor: MinorOut.meta({ description: 'The sum of the fees.' }),
    currency: z.string(),
    merkle_root: z.string(),
    execute_at: ExecuteAt,
    initiated_by: z.object({ account_id: IdOut('account'), grant_id: IdOut('grant').nullable(), label: z.string().nullable() }),
    created_at: TimeOut,
  })
  .meta({ id: 'PaymentBatchSummary' })

const ApprovalWarning = z.union([
  Warning,
  z.object({
    code: z.literal('first_payment').meta({ description: 'Nothing has been paid to this destination from this workspace yet.' }),
  }),
  z.object({
    code: z.literal('may_have_been_sent').meta({
      description:
        'It was asked for before the database lost writes, and may have been paid in them, where the provider might pay it twice. Approved, it is not sent: its outcome is unknown until an administrator has compared it with the statement.',
    }),
    payments_count: z.number().int().meta({ description: 'How many payments of the batch it is about; 1 for a payment.' }),
  }),
])

const ApprovalContext = z
  .object({
    payee: z
      .object({
        payments_count: z.number().int().meta({ description: 'Payments from this workspace that reached this destination.' }),
        last_paid_at: TimeOut.nullable().meta({ description: 'When the payee was last paid; null if never.' }),
        typical_amount_minor: MinorOut.nullable().meta({
          description: 'The median of the last nine of those payments; null where there are fewer than three.',
        }),
        verification: Verification,
      })
      .nullable()
      .meta({ description: 'What is known of the payee; null for a batch.' }),
    warnings: z.array(ApprovalWarning).meta({
      description: 'What an approver should look at first: the warnings of the decision, and what is unusual about the payment.',
    }),
    available_after_minor: SignedMinorOut.meta({
      description:
        'The available balance of the paying account after this payment, or after all payments of the batch. For what is scheduled nothing is held yet: what today’s balance would leave, below zero where it does not cover it.',
    }),
    eligible_approvers: z.array(IdOut('account')).meta({
      description: 'Members who can still decide this approval; where it asks for signatures, those with a passkey or a wallet.',
    }),
  })
  .meta({ id: 'ApprovalContext' })

export const Approval = z
  .object({
    id: IdOut('approval'),
    status: z.enum(approvalStatuses),
    payment: PaymentSummary.nullable().meta({ description: 'Null where a batch is decided.' }),
    batch: BatchSummary.nullable().meta({ description: 'The batch that is decided as a whole; null for one payment.' }),
    required_approvals: z.number().int(),
    approvals_given: z.number().int().meta({ description: 'How many approvals count so far.' }),
    separation_of_duties: z.boolean(),
    approval_proof: z.enum(approvalProofs).meta({
      description: '`signature`: only approvals that a passkey or a wallet signed count in `approvals_given`.',
    }),
    facts: z.array(Fact).meta({
      description: 'What the text to sign warns of, by type: everything that an approver must see before deciding.',
    }),
    decisions: z.array(
      z.object({
        account_id: IdOut('account'),
        decision: z.enum(approvalChoices),
        via: z.enum(['credential', 'signature', 'passkey']),
        reason: z.string().nullable(),
        signer: z.string().nullable(),
        decided_at: TimeOut,
        voided_at: TimeOut.nullable().meta({
          description:
            'When it stopped counting: its account may no longer decide, its wallet was unlinked, its passkey was removed, its mandate was revoked, its account decided otherwise, or its text was made again because the name at the rail had changed.',
        }),
      }),
    ),
    signing: z
      .object({ approve: z.string(), reject: z.string() })
      .meta({ description: 'The canonical messages, to be signed as they are.' }),
    expires_at: TimeOut,
    created_at: TimeOut,
    context: ApprovalContext.optional().meta({ description: 'Where approvals that wait are read: what helps to decide them.' }),
    decision_now: Decision.optional().meta({
      description:
        'Only where one approval of one payment is read while it waits: how the payment would be decided now, by the rules and with the usage of this moment. `payment.decision` is the one that asked for the approval.',
    }),
    refusal_now: z
      .object({
        error: z.string().meta({ description: 'The code of the refusal, such as `beneficiary_frozen` or `workspace_frozen`.' }),
        message: z.string(),
      })
      .optional()
      .meta({
        description:
          'Only while it waits, and only where your approval would be refused now: a freeze or a disabled capability stops it until that is lifted. It can still be rejected. A list of approvals has it for freezes of your account and of the workspace alone.',
      }),
  })
  .meta({ id: 'Approval' })
export type Approval = z.output<typeof Approval>

const Choice = z.enum(approvalChoices)
const Reason = Text(500).nullish()

export const Decide = z
  .strictObject({
    decision: Choice,
    reason: Reason,
    message_digest: MessageDigest.optional().meta({
      description:
        'The SHA-256 of the text that was shown, `signing.approve` or `signing.reject`, in hexadecimal. Where the text has changed since, the decision is refused: 409, reason `message_changed`.',
    }),
    passkey: Assertion.optional().meta({
      description:
        'An assertion of one of your passkeys, with its user verified. Its challenge is the SHA-256 of the canonical text, `signing.approve` or `signing.reject`.',
    }),
  })
  .meta({ id: 'DecideApproval' })
export type Decide = z.output<typeof Decide>

export const DecideBySignature = z
  .strictObject({
    decision: Choice,
    signature: WalletSignature,
    address: WalletAddress.optional().meta({ description: 'The signing wallet; needed for contract wallets only.' }),
    reason: Reason,
  })
  .meta({ id: 'DecideApprovalBySignature' })
export type DecideBySignature = z.output<typeof DecideBySignature>

export const MessageQuery = z.object({ decision: Choice.default('approve') })
export const SigningMessage = z
  .object({
    message: z.string(),
    facts: z.array(Fact).meta({ description: 'What the text warns of, by type, the heaviest first.' }),
    payments_count: z.number().int().meta({ description: 'How many payments are decided together.' }),
    currency: z.string(),
    status: z.enum(approvalStatuses).meta({ description: 'The result alone, not who decided.' }),
    expires_at: TimeOut,
  })
  .meta({ id: 'SigningMessage' })
export const ListApprovals = PageQuery.extend({ status: z.enum(approvalStatuses).optional() })
