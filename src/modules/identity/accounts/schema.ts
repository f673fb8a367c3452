import { z } from 'zod'
import { accountStatuses } from '../../../db/tables/accounts.ts'
import { PageQuery } from '../../../http/pagination.ts'
import { IdOut, MinorOut, Name, SignedMinorOut, TimeIn, TimeOut } from '../../../http/wire.ts'
import { historyTypes } from '../../../ledger/reports.ts'

const Capability = z.enum(['active', 'disabled'])

export const Account = z
  .object({
    id: IdOut('account'),
    status: z.enum(accountStatuses),
    email: z.string().nullable(),
    display_name: z.string().nullable(),
    balance: z.object({ currency: z.string(), available_minor: MinorOut, held_minor: MinorOut }),
    capabilities: z.object({ topups: Capability, payments: Capability, api_keys: Capability, oauth: Capability }),
    created_at: TimeOut,
  })
  .meta({ id: 'Account' })
export type Account = z.output<typeof Account>

export const UpdateAccount = z.strictObject({ display_name: Name.nullable() }).partial().meta({ id: 'UpdateAccount' })

export const SummarizeHistory = z.object({
  days: z.coerce.number().int().min(1).max(90).default(30).meta({ description: 'How many days are listed, today included.' }),
})

export const HistorySummary = z
  .object({
    currency: z.string(),
    days: z.array(
      z.object({ date: z.string().meta({ format: 'date', example: '2026-01-31' }), in_minor: MinorOut, out_minor: MinorOut }),
    ),
  })
  .meta({
    id: 'HistorySummary',
    description:
      'Money that came in and money that left, by day in the time zone of the current workspace; oldest first. Holds are not counted.',
  })

const Types = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(',') : value),
  z.array(z.enum(historyTypes)).min(1),
)

export const ListHistory = PageQuery.extend({
  type: Types.optional().meta({ description: 'One or several: `?type=topup&type=adjustment`, or with commas.' }),
  created_after: TimeIn.optional(),
  created_before: TimeIn.optional(),
})

export const HistoryEntry = z
  .object({
    id: IdOut('ledger'),
    type: z.enum(historyTypes),
    amount_minor: SignedMinorOut.meta({
      description:
        'Signed: how this entry changed the available balance, so that a history adds up to the balance. A hold lowers it, a release raises it, and the payment itself then changes nothing.',
    }),
    held_change_minor: SignedMinorOut.meta({
      description: 'Signed: how this entry changed the held amount. A hold raises it, the payment or its release lowers it.',
    }),
    available_after_minor: MinorOut,
    reference: z.object({ type: z.string(), id: z.string() }),
    beneficiary: z
      .object({ id: IdOut('beneficiary'), display_name: z.string() })
      .nullable()
      .meta({ description: 'Who was paid. Null if the entry is not a payment, and for a reader without `beneficiary.read`.' }),
    batch: z
      .object({ id: IdOut('payment_batch'), name: z.string().nullable() })
      .nullable()
      .meta({ description: 'The list that the payment is of. Null as `beneficiary` is.' }),
    created_at: TimeOut,
  })
  .meta({ id: 'HistoryEntry' })
