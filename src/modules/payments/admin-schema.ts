import { z } from 'zod'
import { lateSuccessResolutions } from '../../db/tables/payments.ts'
import { paymentStatuses } from '../../db/transitions.ts'
import { PageQuery } from '../../http/pagination.ts'
import { bounded, IdOut } from '../../http/wire.ts'
import { Payment } from './schema.ts'

export const AdminPayment = Payment.extend({
  account_id: IdOut('account').meta({ description: "The workspace's owning account: whose balance pays." }),
  late_success_resolution: z
    .enum(lateSuccessResolutions)
    .nullable()
    .meta({ description: 'Who bears a late success: the account was charged, or it was written off. Null until it is booked.' }),
  waiting_adjustment_id: IdOut('ledger').nullable().meta({
    description:
      'An outcome at the cost of the organisation that waits for a second administrator, who resolves the payment in the same way.',
  }),
}).meta({ id: 'AdminPayment' })

export const FindPayments = PageQuery.extend({
  status: z.enum(paymentStatuses).optional(),
  attention: z
    .enum(['late_success'])
    .optional()
    .meta({ description: 'Payments that an administrator must book: they had failed, and the provider paid them later.' }),
})

export type FindPayments = z.output<typeof FindPayments>

export const ResolvePayment = z
  .strictObject({
    outcome: z.enum(['succeeded', 'failed', ...lateSuccessResolutions]).meta({
      description:
        '`succeeded` or `failed` ends a payment that is `unknown`. `charged` takes the amount of a late success from the account; `written_off` leaves the account as it is.',
    }),
    evidence: bounded(2000).trim().min(1).meta({
      description:
        "What the provider said and where it can be read again, for the audit log: its statement's line, a ticket. No phone or account number.",
    }),
    provider_receipt: bounded(100).trim().min(1).optional().meta({ description: "The provider's receipt, where it succeeded." }),
  })
  .refine((body) => body.provider_receipt === undefined || body.outcome === 'succeeded', {
    path: ['provider_receipt'],
    message: 'belongs to a payment that succeeded',
  })
export type ResolvePayment = z.output<typeof ResolvePayment>
