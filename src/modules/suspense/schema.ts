import { z } from 'zod'
import { suspenseOutcomes, suspenseReasons } from '../../db/tables/rails.ts'
import { PageQuery } from '../../http/pagination.ts'
import { IdIn, IdOut, MinorOut, TimeOut, VisibleText } from '../../http/wire.ts'

export const SuspenseItem = z
  .object({
    id: IdOut('suspense'),
    rail: z.string(),
    direction: z.enum(['in', 'out']),
    reason: z.enum(suspenseReasons),
    sender_name: z.string().nullable().meta({ description: 'Of a deposit: the payer, as the provider reports the name.' }),
    payment_reference: z.string().nullable().meta({ description: 'Of a deposit: the account number that the payer typed.' }),
    paid_at: TimeOut.nullable(),
    payment_id: IdOut('payment').nullable(),
    topup_id: IdOut('topup').nullable(),
    provider_receipt: z.string().nullable(),
    amount_minor: MinorOut.nullable(),
    booked: z.boolean().meta({ description: 'Whether the amount is booked on the suspense account.' }),
    outcome: z.enum(suspenseOutcomes).nullable(),
    note: z.string().nullable(),
    resolved_by: z.string().nullable(),
    created_at: TimeOut,
    resolved_at: TimeOut.nullable(),
  })
  .meta({ id: 'SuspenseItem', description: 'Money that a provider moved and that could not be booked.' })
export type SuspenseItem = z.output<typeof SuspenseItem>

export const FindSuspense = PageQuery.extend({ status: z.enum(['open', 'resolved']).optional() })

export const ResolveSuspense = z
  .strictObject({
    outcome: z.enum(suspenseOutcomes).exclude(['assigned']).meta({
      description:
        '`adjusted`: an adjustment gave the money to an account, so it leaves suspense for `adjustments`. `reversed`: the provider reversed it. `explained`: it was booked elsewhere, or never moved.',
    }),
    note: VisibleText(500),
  })
  .meta({ id: 'ResolveSuspense' })
export type ResolveSuspense = z.output<typeof ResolveSuspense>

export const ResolveSuspenseItems = ResolveSuspense.extend({
  ids: z.array(IdIn('suspense')).min(1).max(100).meta({ description: 'The open items; each gets its own row in the audit log.' }),
}).meta({ id: 'ResolveSuspenseItems' })
export const SuspenseItems = z.object({ data: z.array(SuspenseItem) }).meta({ id: 'SuspenseItems' })
