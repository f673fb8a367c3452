import { z } from 'zod'
import { PageQuery } from '../../http/pagination.ts'
import { IdOut, MinorOut, SignedMinorOut, TimeOut } from '../../http/wire.ts'
import { statementTypes } from '../../ledger/statement.ts'

const LocalDate = z.iso
  .date()
  .refine((date) => date >= '1970-01-02' && date < '9999', 'must be a date from the years 1970 to 9998')
  .meta({ description: "A date in the workspace's time zone.", example: '2026-03-01' })

export const ReadStatement = PageQuery.extend({
  from: LocalDate.optional().meta({ description: 'The first day; the first of the current month if it is left out.' }),
  to: LocalDate.optional().meta({ description: 'The last day, inclusive; the last of the month of `from` if it is left out.' }),
})
export type ReadStatement = z.output<typeof ReadStatement>

const Total = { in_minor: MinorOut, out_minor: MinorOut, entries: z.number().int() }

const entry = {
  at: TimeOut,
  type: z.enum(statementTypes).meta({ description: '`payment_return`: a payment that the rail sent back.' }),
  payee: z.object({ id: IdOut('beneficiary'), display_name: z.string() }).nullable(),
  amount_minor: SignedMinorOut.meta({ description: 'Negative for money that left.' }),
  reference: z.string().nullable(),
  narrative: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  provider_receipt: z.string().nullable(),
  requested_by: IdOut('account').nullable(),
  approved_by: z.array(IdOut('account')),
  payment_id: IdOut('payment').nullable(),
  topup_id: IdOut('topup').nullable(),
}

const period = {
  from: z.iso.date(),
  to: z.iso.date(),
  time_zone: z.string(),
  currency: z.string(),
  in_minor: MinorOut.nullable().meta({ description: 'What came in during the period; null while it is not counted yet.' }),
  out_minor: MinorOut.nullable().meta({ description: 'What went out during the period; null while it is not counted yet.' }),
  totals: z
    .object({
      by_payee: z.array(z.object({ id: IdOut('beneficiary'), display_name: z.string(), ...Total })).meta({
        description: 'The payees that got most, at most 1,000.',
      }),
      by_type: z.array(z.object({ type: z.enum(statementTypes), ...Total })),
    })
    .nullable(),
  totals_pending: z.boolean().meta({
    description:
      'True while the sums of the period are not counted yet, as after an upgrade: `totals`, `in_minor` and `out_minor` are null then.',
  }),
}

export const StatementEntry = z.object({ ...entry, balance_after_minor: MinorOut }).meta({ id: 'StatementEntry' })
export const Statement = z
  .object({
    ...period,
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

export const WorkspaceStatementEntry = z.object(entry).meta({ id: 'WorkspaceStatementEntry' })
export const WorkspaceStatement = z
  .object({ ...period, entries: z.array(WorkspaceStatementEntry), next_cursor: z.string().nullable() })
  .meta({ id: 'WorkspaceStatement', description: "The workspace's payments and what came back of them, oldest first." })
