import { z } from 'zod'
import { PageQuery } from '../../http/pagination.ts'
import { IdOut, MinorOut, RecordOut, RequestKeys, SignedMinorOut, TimeOut } from '../../http/wire.ts'
import { statementTypes } from '../../ledger/statement.ts'
import { railNames } from '../../lib/rail-names.ts'

const LocalDate = z.iso
  .date({ abort: true, error: ({ input }) => (input === undefined ? 'is required' : 'must be a date such as "2026-03-01"') })
  .refine((date) => date >= '1970-01-02' && date < '9999', 'must be a date from the years 1970 to 9998')
  .meta({ description: "A date in the workspace's time zone.", example: '2026-03-01' })

export const ReadStatement = PageQuery.extend({
  from: LocalDate.optional().describe('The first day; the first of the current month if it is left out.'),
  to: LocalDate.optional().describe('The last day, inclusive; the last of the month of `from` if it is left out.'),
})
export type ReadStatement = z.output<typeof ReadStatement>

const Total = { in_minor: MinorOut, out_minor: MinorOut, entries: z.number().int().describe('How many entries.') }

const entry = {
  at: TimeOut,
  type: z.enum(statementTypes).describe('`payment_return`: a payment that the rail sent back.'),
  payee: z.object({ id: IdOut('beneficiary'), display_name: z.string(), destination_mask: z.string() }).nullable(),
  payment_rail: z.enum(railNames).nullable(),
  purpose_code: z.string().nullable().describe('What the payment is for, as an external purpose code of ISO 20022.'),
  batch: z
    .object({ id: IdOut('payment_batch'), name: z.string().nullable() })
    .nullable()
    .describe('The batch that the payment is an item of.'),
  ...RequestKeys,
  amount_minor: SignedMinorOut.describe('Negative for money that left.'),
  fee_minor: MinorOut.describe('Of a payment: its fee, which is an entry of its own (`fee`). "0" without one.'),
  reference: z.string().nullable(),
  narrative: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  provider_receipt: z.string().nullable(),
  requested_by: IdOut('account').nullable(),
  requested_by_name: z.string().nullable().describe('As that person chose it, else their first wallet.'),
  requested_through: z.string().nullable().describe('The label of the API key or agent that asked for it.'),
  approved_by: z.array(IdOut('account')),
  approved_by_names: z.array(z.string().nullable()).describe('In the order of `approved_by`.'),
  payment_id: IdOut('payment').nullable(),
  topup_id: IdOut('topup').nullable(),
}

export const Period = z.object({
  from: z.iso.date(),
  to: z.iso.date(),
  time_zone: z.string(),
  currency: z.string(),
  unfinished_at: TimeOut.nullable().describe(
    'Null once the last day has ended. Until then when the statement was read: more can be booked, and the closing balance is the one of that time.',
  ),
  in_minor: MinorOut.nullable().describe('What came in during the period; null while it is not counted yet.'),
  out_minor: MinorOut.nullable().describe('What went out during the period; null while it is not counted yet.'),
  totals: z
    .object({
      by_payee: z
        .array(z.object({ id: IdOut('beneficiary'), display_name: z.string(), ...Total }))
        .describe('The payees that got most, at most 1,000.'),
      by_type: z.array(z.object({ type: z.enum(statementTypes), ...Total })),
    })
    .nullable(),
  totals_pending: z
    .boolean()
    .describe(
      'True while the sums of the period are not counted yet, as after an upgrade: `totals`, `in_minor` and `out_minor` are null then.',
    ),
})

export const StatementEntry = RecordOut('StatementEntry', { ...entry, balance_after_minor: MinorOut })
export const Statement = z
  .object({
    ...Period.shape,
    opening_balance_minor: MinorOut,
    closing_balance_minor: MinorOut,
    entries: z.array(StatementEntry),
    next_cursor: z.string().nullable(),
  })
  .meta({
    id: 'Statement',
    description:
      'What was booked on the account, oldest first. Money under a hold has not left yet. The opening balance of a statement is the closing balance of the one before.',
  })

const Hidden = MinorOut.nullable().describe('Null where the balance is shared, or not the reader’s to see.')

export const WorkspaceStatementEntry = RecordOut('WorkspaceStatementEntry', { ...entry, balance_after_minor: Hidden })
export const WorkspaceStatement = z
  .object({
    ...Period.shape,
    opening_balance_minor: Hidden,
    closing_balance_minor: Hidden,
    entries: z.array(WorkspaceStatementEntry),
    next_cursor: z.string().nullable(),
  })
  .meta({
    id: 'WorkspaceStatement',
    description:
      'What was booked on the balance of the workspace, oldest first; of a shared balance, its payments and what came back of them.',
  })
