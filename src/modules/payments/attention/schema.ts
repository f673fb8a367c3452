import { z } from 'zod'
import { IdOut, MinorOut, TimeOut } from '../../../http/wire.ts'
import { RefusedPayment } from '../refusals/schema.ts'

const Count = z.number().int().describe('How many payments it is about.')
const Payee = z
  .object({
    id: IdOut('beneficiary').describe('The payee’s id.'),
    display_name: z.string().describe('The payee’s name as it is at present.'),
  })
  .describe('Who is paid.')
const { initiated_by: By } = RefusedPayment.shape

export const UnknownPayments = z
  .object({
    kind: z.literal('unknown_payments').describe('The rail has not reported whether the money moved.'),
    count: Count,
    amount_minor: MinorOut.describe('What stays held for them.'),
    payment_id: IdOut('payment').describe('The oldest one.'),
  })
  .describe('Payments whose outcome is not known.')

export const RepeatedPayments = z
  .object({
    kind: z.literal('repeated_payments').describe('The same payee was paid the same amount again and again.'),
    count: Count,
    beneficiary: Payee,
    amount_minor: MinorOut.describe('The amount of each.'),
    by: By,
    first_at: TimeOut.describe('When the first of them was made.'),
    last_at: TimeOut.describe('When the last of them was made.'),
  })
  .describe('At least four payments alike within 90 minutes, in the last 24 hours.')

export const RefusedPayments = z
  .object({
    kind: z.literal('refused_payments').describe('Payments were asked for and refused.'),
    count: Count,
    by: By,
    last: RefusedPayment.pick({ id: true, amount_minor: true, message: true, created_at: true })
      .extend({ beneficiary: Payee.nullable() })
      .describe('The newest of them.'),
  })
  .describe('What one key, agent or person was refused in the last 24 hours.')

export const NamesDiffer = z
  .object({
    kind: z.literal('names_differ').describe('The rail reports another name for a payee’s number.'),
    count: z.number().int().describe('How many payees it is about.'),
    beneficiary: Payee.describe('The newest of them.'),
    reported_name: z.string().nullable().describe('The name that the rail reports for it.'),
  })
  .describe('Payees whose number is registered under another name. Ends when they are renamed or archived.')

export const LimitNearlyUsed = z
  .object({
    kind: z.literal('limit_nearly_used').describe('At least 80 % of a limit of a policy is used.'),
    policy_id: IdOut('policy').describe('The policy.'),
    name: z.string().describe('What the policy is called.'),
    period: z.enum(['day', 'month', 'total']).describe('The limit’s period, in the workspace’s time zone; `total` has none.'),
    used_minor: MinorOut.describe('What is used of it.'),
    limit_minor: MinorOut.describe('The limit.'),
  })
  .describe('A limit that is nearly used up.')

export const DepositsInSuspense = z
  .object({
    kind: z.literal('deposits_in_suspense').describe('Money arrived that could not be booked to an account.'),
    count: z.number().int().describe('How many deposits and top-ups.'),
    amount_minor: MinorOut.describe('What they amount to, as far as it is known.'),
    oldest_at: TimeOut.describe('When the oldest of them was recorded.'),
  })
  .describe('Money in suspense in the whole service: only for a signed-in administrator of the service.')

export const BalanceShortage = z
  .object({
    workspace_id: IdOut('workspace'),
    missing_minor: MinorOut.describe('What the balance lacks.'),
    scheduled_minor: MinorOut.describe('What is due within two days, with its fees.'),
    due_at: TimeOut.describe('When the balance is too low for the first time.'),
  })
  .meta({ id: 'BalanceShortage', description: 'The balance does not cover what is scheduled.' })

const BalanceShort = z
  .object({
    kind: z.literal('balance_short').describe('The balance does not cover what is scheduled.'),
    shortage: BalanceShortage,
  })
  .describe('Money that is missing for what is due within two days.')

const Need = z.discriminatedUnion('kind', [
  BalanceShort,
  UnknownPayments,
  RepeatedPayments,
  RefusedPayments,
  NamesDiffer,
  LimitNearlyUsed,
  DepositsInSuspense,
])

export const Attention = z
  .object({
    currency: z.string().meta({ description: 'The currency of all amounts.', example: 'KES' }),
    by_day: z
      .array(
        z.object({
          date: z.string().meta({ format: 'date', example: '2026-01-31', description: 'A day in the workspace’s time zone.' }),
          count: Count,
          amount_minor: MinorOut.describe('What was spent on it.'),
        }),
      )
      .describe('What was sent or is being sent, for each of the last 30 days, oldest first: by the day whose limits count it.'),
    needs: z.array(Need).describe('What a person should look at, the most urgent first.'),
  })
  .meta({ id: 'Attention', description: 'What happened with the workspace’s payments, and what of it needs a person.' })
