import { z } from 'zod'
import { PageQuery } from '../../http/pagination.ts'
import { IdOut, MinorOut, RecordOut, RequestKeys, SignedMinorOut, TimeOut } from '../../http/wire.ts'
import { bookingTypes } from '../../ledger/statement.ts'
import { railNames } from '../../lib/rail-names.ts'

const LocalDate = z.iso
  .date({ abort: true, error: ({ input }) => (input === undefined ? 'is required' : 'must be a date such as "2026-03-01"') })
  .refine((date) => date >= '1970-01-02' && date < '9999', 'must be a date from the years 1970 to 9998')
  .meta({ description: "A date in the workspace's time zone.", example: '2026-03-01' })

export const ReadStatement = PageQuery.extend({
  from: LocalDate.optional().describe('The first day. Defaults to the first day of the current month.'),
  to: LocalDate.optional().describe('The last day, inclusive. Defaults to the last day of the month of `from`.'),
})
export type ReadStatement = z.output<typeof ReadStatement>

const Total = { in_minor: MinorOut, out_minor: MinorOut, entries: z.number().int().describe('The number of entries.') }

const entry = {
  at: TimeOut,
  type: z
    .enum(bookingTypes)
    .describe(
      '`payment_return`: a payment that the rail sent back. `adjustment` includes the separation of a balance, which the history calls `separation`.',
    ),
  payee: z.object({ id: IdOut('beneficiary'), display_name: z.string(), destination_mask: z.string() }).nullable(),
  payment_rail: z.enum(railNames).nullable(),
  purpose_code: z.string().nullable().describe('The ISO 20022 external purpose code of the payment; null if none.'),
  batch: z
    .object({ id: IdOut('payment_batch'), name: z.string().nullable() })
    .nullable()
    .describe('The batch of the payment.'),
  ...RequestKeys,
  amount_minor: SignedMinorOut.describe('The signed amount; negative for outgoing money.'),
  fee_minor: MinorOut.describe('The fee of the payment, which is a separate entry (`fee`); "0" if there is none.'),
  reference: z.string().nullable(),
  narrative: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  provider_receipt: z.string().nullable(),
  requested_by: IdOut('account').nullable(),
  requested_by_name: z.string().nullable().describe('The display name of the requester, or their first wallet if there is none.'),
  requested_through: z.string().nullable().describe('The label of the API key or agent that requested it.'),
  grant_id: IdOut('grant').nullable(),
  approved_by: z.array(IdOut('account')),
  approved_by_names: z.array(z.string().nullable()).describe('The names of the approvers, in the order of `approved_by`.'),
  payment_id: IdOut('payment').nullable(),
  topup_id: IdOut('topup').nullable(),
}

export const Period = z.object({
  from: z.iso.date(),
  to: z.iso.date(),
  time_zone: z.string(),
  currency: z.string(),
  unfinished_at: TimeOut.nullable().describe(
    'When the statement was read, if its last day has not ended yet; otherwise null. More can be booked until then, and the closing balance is the balance at that time.',
  ),
  in_minor: MinorOut.nullable().describe('The incoming total of the period; null until it has been calculated.'),
  out_minor: MinorOut.nullable().describe('The outgoing total of the period; null until it has been calculated.'),
  totals: z
    .object({
      by_payee: z
        .array(z.object({ id: IdOut('beneficiary'), display_name: z.string(), ...Total }))
        .describe('The beneficiaries with the largest amounts, up to 1,000.'),
      by_type: z.array(z.object({ type: z.enum(bookingTypes), ...Total })),
    })
    .nullable(),
  totals_pending: z
    .boolean()
    .describe(
      'Whether the totals of the period have not been calculated yet, such as after an upgrade. `totals`, `in_minor` and `out_minor` are then null.',
    ),
})

const statement = <Entry extends z.ZodType, Balance extends z.ZodType>(item: Entry, balance: Balance) =>
  z.object({
    ...Period.shape,
    opening_balance_minor: balance,
    closing_balance_minor: balance,
    entries: z.array(item),
    next_cursor: z.string().nullable(),
  })

export const StatementEntry = RecordOut('StatementEntry', { ...entry, balance_after_minor: MinorOut })
export const Statement = statement(StatementEntry, MinorOut).meta({
  id: 'Statement',
  description:
    'The ledger entries of the account, oldest first. Held money has not left yet. The opening balance of a statement is the closing balance of the previous one.',
})

const Hidden = MinorOut.nullable().describe('Null if the balance is shared or the caller may not see it.')

export const WorkspaceStatementEntry = RecordOut('WorkspaceStatementEntry', { ...entry, balance_after_minor: Hidden })
export const WorkspaceStatement = statement(WorkspaceStatementEntry, Hidden).meta({
  id: 'WorkspaceStatement',
  description:
    'The ledger entries of the workspace balance, oldest first. For a shared balance, only the payments of the workspace and their returns.',
})
export type WorkspaceStatement = z.output<typeof WorkspaceStatement>
