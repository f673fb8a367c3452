import { z } from 'zod'
import { BodyIn, IdIn, MinorOut, Name, PositiveMinorIn, VisibleText } from '../../http/wire.ts'
import { PaymentType } from '../payment-type.ts'
import { CreatePayment } from '../payments/schema.ts'
import { Decision, policyInput } from '../policies/schema.ts'

export const Simulate = BodyIn('Simulate', {
  beneficiary_id: IdIn('beneficiary'),
  amount_minor: PositiveMinorIn,
  payment_type: PaymentType.optional(),
  account_reference: VisibleText(20).nullish(),
  mandate_id: IdIn('mandate').nullish(),
  duplicate_of: CreatePayment.shape.duplicate_of,
  on_duplicate: CreatePayment.shape.on_duplicate,
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
