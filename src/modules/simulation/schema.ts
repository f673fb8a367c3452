import { z } from 'zod'
import { IdIn, IdOut, MinorOut, Name, PositiveMinorIn, TimeOut, VisibleText } from '../../http/wire.ts'
import { PaymentType } from '../payment-type.ts'
import { CreatePayment } from '../payments/schema.ts'
import { Decision, Outcome, policyInput } from '../policies/schema.ts'

export const Simulate = z
  .strictObject({
    beneficiary_id: IdIn('beneficiary').optional(),
    amount_minor: PositiveMinorIn.optional(),
    payment_type: PaymentType.optional(),
    account_reference: VisibleText(20).nullish(),
    mandate_id: IdIn('mandate').nullish(),
    duplicate_of: CreatePayment.shape.duplicate_of,
    on_duplicate: CreatePayment.shape.on_duplicate,
    execute_at: CreatePayment.shape.execute_at.meta({
      description:
        'Decide as for a payment that is scheduled for this time: its day and month, without what is used of the limits and without the balance, which are looked at then.',
    }),
    policy: z
      .strictObject({ ...policyInput, name: Name.optional() })
      .optional()
      .meta({ description: 'Decide as if this policy existed as well.' }),
    replay_days: z
      .number()
      .int()
      .min(1)
      .max(90)
      .optional()
      .meta({ description: 'Apply `policy` to the payments of this number of past days.' }),
  })
  .meta({ id: 'Simulate' })
export type Simulate = z.output<typeof Simulate>

const Replay = z.object({
  days: z.number().int(),
  payments_considered: z.number().int().meta({
    description:
      'Payments that the policy applies to, with those that were refused at the time where it would have stopped them too. `allowed`, `held` and `refused` add up to it.',
  }),
  allowed: z.number().int().meta({ description: 'How many would have been paid.' }),
  held: z.number().int().meta({ description: 'How many would have waited for an approval.' }),
  refused: z.number().int().meta({ description: 'How many would have been refused.' }),
  affected: z.array(
    z.object({
      payment_id: IdOut('payment').nullable().meta({ description: 'The payment; null for one that was refused at the time.' }),
      refusal_id: IdOut('payment_refusal').nullable().meta({ description: 'The refusal, for one that was refused at the time.' }),
      beneficiary: z
        .object({
          id: IdOut('beneficiary').meta({ description: 'The payee’s id.' }),
          display_name: z.string().meta({ description: 'The payee’s name as it is at present.' }),
        })
        .meta({ description: 'Who was, or was to be, paid.' }),
      amount_minor: MinorOut,
      created_at: TimeOut,
      outcome: Outcome,
      rule: z.string().meta({ documentedAs: 'Rule' }),
    }),
  ),
  truncated: z.boolean().meta({ description: 'There were more payments than a replay reads: the newest were left out.' }),
})

export type Replay = z.output<typeof Replay>

/** The Decision where a payment was described; the replay where one was asked for. */
export const Simulation = z
  .object({
    ...Decision.partial().shape,
    replay: Replay.optional().meta({ description: 'What the proposed policy would have done with past payments.' }),
  })
  .meta({ id: 'Simulation' })
export type Simulation = z.output<typeof Simulation>
