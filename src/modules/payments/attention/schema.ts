import { z } from 'zod'
import { IdOut, MinorOut, TimeOut } from '../../../http/wire.ts'
import { CreatorOut } from '../../creators.ts'
import { RefusedPayment } from '../refusals/schema.ts'

const Count = z.number().int().describe('The number of payments.')
const Payee = z
  .object({
    id: IdOut('beneficiary').describe('The ID of the beneficiary.'),
    display_name: z.string().describe('The current name of the beneficiary.'),
  })
  .describe('The beneficiary.')

export const UnknownPayments = z
  .object({
    kind: z.literal('unknown_payments').describe('The rail has not reported whether the money moved.'),
    count: Count,
    amount_minor: MinorOut.describe('The amount that remains held for them.'),
    payment_id: IdOut('payment').describe('The oldest of these payments.'),
  })
  .describe('Payments with an unknown outcome.')

export const RepeatedPayments = z
  .object({
    kind: z.literal('repeated_payments').describe('The same beneficiary was paid the same amount repeatedly.'),
    count: Count,
    beneficiary: Payee,
    amount_minor: MinorOut.describe('The amount of each payment.'),
    by: CreatorOut,
    first_at: TimeOut.describe('When the first of these payments was made.'),
    last_at: TimeOut.describe('When the last of these payments was made.'),
  })
  .describe('At least four payments of the same amount to one beneficiary within 90 minutes, in the last 24 hours.')

export const RefusedPayments = z
  .object({
    kind: z.literal('refused_payments').describe('Payments were requested and refused.'),
    count: Count,
    by: CreatorOut,
    last: RefusedPayment.pick({ id: true, amount_minor: true, message: true, created_at: true })
      .extend({ beneficiary: Payee.nullable() })
      .describe('The most recent one.'),
  })
  .describe('Payments that one key, agent or person was refused in the last 24 hours.')

export const NamesDiffer = z
  .object({
    kind: z.literal('names_differ').describe('The rail reports another name for the number of a beneficiary.'),
    count: z.number().int().describe('The number of beneficiaries.'),
    beneficiary: Payee.describe('The most recent one.'),
    reported_name: z.string().nullable().describe('The name that the rail reports for the number.'),
  })
  .describe('Beneficiaries whose number is registered under another name, until they are renamed or archived.')

export const LimitNearlyUsed = z
  .object({
    kind: z.literal('limit_nearly_used').describe('At least 80% of a policy limit is used.'),
    policy_id: IdOut('policy').describe('The policy.'),
    name: z.string().describe('The name of the policy.'),
    period: z.enum(['day', 'month', 'total']).describe('The period in the workspace’s time zone; `total` has none.'),
    used_minor: MinorOut.describe('The used amount of the limit.'),
    limit_minor: MinorOut.describe('The limit.'),
  })
  .describe('A policy limit that is nearly used up.')

export const DepositsInSuspense = z
  .object({
    kind: z.literal('deposits_in_suspense').describe('Money that arrived could not be booked to an account.'),
    count: z.number().int().describe('The number of deposits and top-ups.'),
    amount_minor: MinorOut.describe('The total of the known amounts.'),
    oldest_at: TimeOut.describe('When the oldest item was recorded.'),
  })
  .describe('Money in suspense in the whole service. Only for a signed-in administrator of the service.')

export const BalanceShortage = z
  .object({
    workspace_id: IdOut('workspace'),
    missing_minor: MinorOut.describe('The amount missing from the balance.'),
    scheduled_minor: MinorOut.describe('The amount due within two days, including fees.'),
    due_at: TimeOut.describe('When the balance first becomes too low.'),
  })
  .meta({ id: 'BalanceShortage', description: 'The balance does not cover the scheduled payments.' })

export const BalanceShort = z
  .object({
    kind: z.literal('balance_short').describe('The balance does not cover the scheduled payments.'),
    shortage: BalanceShortage.extend({
      missing_minor: MinorOut.nullable().describe(
        'The amount missing from the balance; null if the caller may not see the balance.',
      ),
    }).meta({ id: 'BalanceShortageNeed', description: 'The balance does not cover the scheduled payments.' }),
  })
  .describe('A balance that does not cover the payments due within two days.')

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
          amount_minor: MinorOut.describe('The amount spent on that day.'),
        }),
      )
      .describe(
        'Payments that were sent or are being sent, for each of the last 30 days, oldest first. A payment belongs to the day whose limits count it.',
      ),
    needs: z.array(Need).describe('Items that a person should look at, the most urgent first.'),
  })
  .meta({ id: 'Attention', description: 'A summary of the workspace’s payments, and the items that need a person.' })
