import { z } from 'zod'
import { BodyIn, MinorOut, Name } from '../../http/wire.ts'
import { CreatePayment } from '../payments/schema.ts'
import { Decision, policyInput } from '../policies/schema.ts'

/** The whole order, so that a program can simulate the body that it will send. */
export const Simulate = BodyIn('Simulate', {
  ...CreatePayment.shape,
  execute_at: CreatePayment.shape.execute_at.describe(
    'Evaluates a payment scheduled for this time, by its day and month. Limit usage and the balance are not considered, because they are checked at that time.',
  ),
  policy: z
    .strictObject({ ...policyInput, name: Name.optional() })
    .optional()
    .describe('A policy to evaluate as if it existed.'),
})
export type Simulate = z.output<typeof Simulate>

export const Simulation = Decision.extend({
  fee_minor: MinorOut.describe('The fee of the payment.'),
}).meta({ id: 'Simulation' })
export type Simulation = z.output<typeof Simulation>
