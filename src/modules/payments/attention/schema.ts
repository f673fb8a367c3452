import { z } from 'zod'
import { IdOut, MinorOut, TimeOut } from '../../../http/wire.ts'
import { RefusedPayment } from '../refusals/schema.ts'

const Count = z.number().int().meta({ description: 'How many payments it is about.' })
const Payee = z
  .object({
    id: IdOut('beneficiary').meta({ description: 'The payee’s id.' }),
    display_name: z.string().meta({ description: 'The payee’s name as it is at present.' }),
  })
  .meta({ description: 'Who is paid.' })
const { initiated_by: By } = RefusedPayment.shape

export const UnknownPayments = z
  .object({
    kind: z.literal('unknown_payments').meta({ description: 'The rail has not reported whether the money moved.' }),
    count: Count,
    amount_minor: MinorOut.meta({ description: 'What stays held for them.' }),
    payment_id: IdOut('payment').meta({ description: 'The oldest one.' }),
  })
  .meta({ description: 'Payments whose outcome is not known.' })

export const RepeatedPayments = z
  .object({
    kind: z.literal('repeated_payments').meta({ description: 'The same payee was paid the same amount again and again.' }),
    count: Count,
    beneficiary: Payee,
    amount_minor: MinorOut.meta({ description: 'The amount of each.' }),
    by: By,
    first_at: TimeOut.meta({ description: 'When the first of them was made.' }),
    last_at: TimeOut.meta({ description: 'When the last of them was made.' }),
  })
  .meta({ description: 'At least four payments alike within 90 minutes, in the last 24 hours.' })

export const RefusedPayments = z
  .object({
    kind: z.literal('refused_payments').meta({ description: 'Payments were asked for and refused.' }),
    count: Count,
    by: By,
    last: RefusedPayment.pick({ id: true, amount_minor: true, message: true, created_at: true })
      .extend({ beneficiary: Payee.nullable() })
      .meta({ description: 'The newest of them.' }),
  })
  .meta({ description: 'What one key, agent or person was refused in the last 24 hours.' })

export const NamesDiffer = z
  .object({
    kind: z.literal('names_differ').meta({ description: 'The rail reports another name for a payee’s number.' }),
    count: z.number().int().meta({ description: 'How many payees it is about.' }),
    beneficiary: Payee.meta({ description: 'The newest of them.' }),
    reported_name: z.string().nullable().meta({ description: 'The name that the rail reports for it.' }),
  })
  .meta({ description: 'Payees whose number is registered under another name. Ends when they are renamed or archived.' })

export const LimitNearlyUsed = z
  .object({
    kind: z.literal('limit_nearly_used').meta({ description: 'At least 80 % of a limit of a policy is used.' }),
    policy_id: IdOut('policy').meta({ description: 'The policy.' }),
    name: z.string().meta({ description: 'What the policy is called.' }),
    period: z
      .enum(['day', 'month', 'total'])
      .meta({ description: 'The limit’s period, in the workspace’s time zone; `total` has none.' }),
    used_minor: MinorOut.meta({ description: 'What is used of it.' }),
    limit_minor: MinorOut.meta({ description: 'The limit.' }),
  })
  .meta({ description: 'A limit that is nearly used up.' })

export const DepositsInSuspense = z
  .object({
    kind: z.literal('deposits_in_suspense').meta({ description: 'Money arrived that could not be booked to an account.' }),
    count: z.number().int().meta({ description: 'How many deposits and top-ups.' }),
    amount_minor: MinorOut.meta({ description: 'What they amount to, as far as it is known.' }),
    oldest_at: TimeOut.meta({ description: 'When the oldest of them was recorded.' }),
  })
  .meta({ description: 'Money in suspense in the whole service: only for a signed-in administrator of the service.' })

export const BalanceShortage = z
  .object({
    workspace_id: IdOut('workspace'),
    missing_minor: MinorOut.meta({ description: 'What the balance lacks.' }),
    scheduled_minor: MinorOut.meta({ description: 'What is due within two days, with its fees.' }),
    due_at: TimeOut.meta({ description: 'When the balance is too low for the first time.' }),
  })
  .meta({ id: 'BalanceShortage', description: 'The balance does not cover what is scheduled.' })

const BalanceShort = z
  .object({
    kind: z.literal('balance_short').meta({ description: 'The balance does not cover what is scheduled.' }),
    shortage: BalanceShortage,
  })
  .meta({ description: 'Money that is missing for what is due within two days.' })

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
          amount_minor: MinorOut.meta({ description: 'What was spent on it.' }),
        }),
      )
      .meta({
        description:
          'What was sent or is being sent, for each of the last 30 days, oldest first: by the day whose limits count it.',
      }),
    needs: z.array(Need).meta({ description: 'What a person should look at, the most urgent first.' }),
  })
  .meta({ id: 'Attention', description: 'What happened with the workspace’s payments, and what of it needs a person.' })
