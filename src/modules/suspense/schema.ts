import { z } from 'zod'
import { adjustmentKinds, adjustmentStatuses } from '../../db/tables/adjustments.ts'
import { suspenseOutcomes, suspenseReasons } from '../../db/tables/rails.ts'
import { PageQuery } from '../../http/pagination.ts'
import { BodyIn, IdIn, IdOut, MinorOut, PositiveMinorIn, RecordOut, TimeOut, VisibleText } from '../../http/wire.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { Reason } from '../identity/schema.ts'

const Direction = z.enum(['credit', 'debit']).describe('`credit` raises the balance of the account, `debit` lowers it.')
const By = z
  .string()
  .meta({ description: "An administrator's account, or `shell:` and a user name.", example: 'acc_01h455vb4pex5vsknk084sn02q' })

export const Adjustment = z
  .object({
    id: IdOut('ledger'),
    kind: z
      .enum(adjustmentKinds)
      .describe(
        '`balance`: a correction of a balance. `payment_failed` and `late_success_written_off`: an outcome at the cost of the organisation, decided by resolving the payment.',
      ),
    status: z
      .enum(adjustmentStatuses)
      .describe(
        '`pending`: a second administrator must confirm; no money has moved. `cancelled`: the payment ended in another way first, such as by an answer of its rail.',
      ),
    account_id: IdOut('account').describe('The account whose balance is adjusted. For a team, its owning account.'),
    workspace_id: IdOut('workspace').nullable().describe('The team whose balance is adjusted; null for an account.'),
    payment_id: IdOut('payment').nullable().describe('The payment that the adjustment resolves; null for `balance`.'),
    direction: Direction,
    amount_minor: MinorOut,
    currency: z.string(),
    reason: z.string(),
    requested_by: By,
    decided_by: By.nullable().describe('The administrator who decided it.'),
    created_at: TimeOut,
    decided_at: TimeOut.nullable(),
  })
  .meta({
    id: 'Adjustment',
    description:
      'A decision of administrators at the cost of the organisation. Corrections of a balance are booked against the ledger account `adjustments`.',
  })
export type Adjustment = z.output<typeof Adjustment>

export const CreateAdjustment = z
  .strictObject({
    account_id: IdIn('account').optional(),
    workspace_id: IdIn('workspace').optional().describe('The team whose balance is adjusted, instead of `account_id`.'),
    direction: Direction,
    amount_minor: PositiveMinorIn,
    reason: Reason,
  })
  .refine(({ account_id, workspace_id }) => (account_id === undefined) !== (workspace_id === undefined), {
    path: ['account_id'],
    message: 'or workspace_id is required: exactly one of them',
  })
  .meta({ id: 'CreateAdjustment' })
export type CreateAdjustment = z.output<typeof CreateAdjustment>

export const FindAdjustments = PageQuery.extend({
  status: z.enum(adjustmentStatuses).optional(),
  account_id: IdIn('account').optional(),
  workspace_id: IdIn('workspace').optional(),
})

/** The payment or top-up that an item is about. */
export const presentSubject = ({ subjectKind, subjectId }: { subjectKind: string | null; subjectId: Uuid | null }) => {
  const idOf = (kind: 'payment' | 'topup') => (subjectKind === kind && subjectId !== null ? formatId(kind, subjectId) : null)
  return { payment_id: idOf('payment'), topup_id: idOf('topup') }
}

export const SuspenseItem = z
  .object({
    id: IdOut('suspense'),
    rail: z.string(),
    direction: z.enum(['in', 'out']),
    reason: z.enum(suspenseReasons),
    sender_name: z.string().nullable().describe('Only for deposits: the name of the payer, as the provider reports it.'),
    payment_reference: z.string().nullable().describe('Only for deposits: the account number that the payer entered.'),
    paid_at: TimeOut.nullable().describe('When the money was paid to the provider.'),
    payment_id: IdOut('payment').nullable(),
    topup_id: IdOut('topup').nullable(),
    provider_receipt: z.string().nullable(),
    amount_minor: MinorOut.nullable().describe('The reported amount; null if it is missing or unreadable.'),
    booked: z.boolean().describe('Whether the amount is booked to the suspense account.'),
    outcome: z.enum(suspenseOutcomes).nullable(),
    note: z.string().nullable(),
    resolved_by: z.string().nullable(),
    proposal: z
      .object({ outcome: z.enum(suspenseOutcomes), by: By })
      .nullable()
      .describe('An outcome that needs a second administrator, who confirms it by sending the same outcome.'),
    created_at: TimeOut,
    resolved_at: TimeOut.nullable(),
  })
  .meta({ id: 'SuspenseItem', description: 'Money that a provider moved and the service could not book.' })
export type SuspenseItem = z.output<typeof SuspenseItem>

export const FindSuspense = PageQuery.extend({ status: z.enum(['open', 'resolved']).optional() })

export const ResolveSuspense = BodyIn('ResolveSuspense', {
  outcome: z
    .enum(suspenseOutcomes)
    .exclude(['assigned'])
    .describe(
      '`adjusted`: an adjustment gave the money to an account, so it moves from suspense to `adjustments`. `reversed`: the provider reversed it. `explained`: it was booked elsewhere or never moved.',
    ),
  note: VisibleText(500),
})
export type ResolveSuspense = z.output<typeof ResolveSuspense>

export const AssignSuspense = z
  .strictObject({
    account_id: IdIn('account').optional(),
    workspace_id: IdIn('workspace').optional().describe('The workspace whose balance is credited.'),
    topup_id: IdIn('topup').optional().describe('The top-up that the payer meant; its account is credited.'),
    note: VisibleText(500),
  })
  .refine((named) => [named.account_id, named.workspace_id, named.topup_id].filter((id) => id !== undefined).length === 1, {
    path: ['account_id'],
    message: 'name exactly one of account_id, workspace_id and topup_id',
  })
  .meta({ id: 'AssignSuspense' })
export type AssignSuspense = z.output<typeof AssignSuspense>

export const EnterAmount = BodyIn('EnterAmount', {
  amount_minor: PositiveMinorIn.describe('The amount that the provider reported to a person.'),
  provider_receipt: VisibleText(100)
    .optional()
    .describe('The receipt of the money. Required for a deposit without `provider_receipt`, so that it is booked once.'),
  note: VisibleText(500),
})
export type EnterAmount = z.output<typeof EnterAmount>

export const ResolveSuspenseItems = ResolveSuspense.extend({
  ids: z.array(IdIn('suspense')).min(1).max(100).describe('The open items; each gets its own entry in the audit log.'),
}).meta({ id: 'ResolveSuspenseItems' })
export const SuspenseItems = RecordOut('SuspenseItems', { data: z.array(SuspenseItem) })

export const ProviderAlert = z
  .object({
    id: IdOut('alert'),
    rail: z.string(),
    word: z.string().meta({
      description:
        "The provider's own word for the outcome, or `another_amount`, `another_receiver` or `receipt_conflict`, which name the difference.",
      example: 'CANCELLED',
    }),
    payment_id: IdOut('payment').nullable(),
    topup_id: IdOut('topup').nullable(),
    provider_receipt: z.string().nullable(),
    amount_minor: MinorOut.nullable().describe('The reported amount; null if it is missing or unreadable.'),
    note: z.string().nullable(),
    created_at: TimeOut,
    resolved_at: TimeOut.nullable(),
    resolved_by: z.string().nullable(),
  })
  .meta({
    id: 'ProviderAlert',
    description:
      'A later report of a provider about money that is already booked. Nothing was booked for it. A person must ask the provider.',
  })
export type ProviderAlert = z.output<typeof ProviderAlert>

export const ResolveProviderAlert = BodyIn('ResolveProviderAlert', { note: VisibleText(500) })
