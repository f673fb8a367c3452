import { z } from 'zod'
import { errorCodes } from '../../../errors/catalogue.ts'
import { PageQuery } from '../../../http/pagination.ts'
import { IdIn, IdOut, MinorOut, TimeIn, TimeOut } from '../../../http/wire.ts'
import { CreatorOut } from '../../creators.ts'
import { Decision } from '../../policies/schema.ts'

export const RefusedPayment = z
  .object({
    id: IdOut('payment_refusal').describe('The ID of the refused payment. No payment was created.'),
    workspace_id: IdOut('workspace').describe('The workspace that would have paid.'),
    initiated_by: CreatorOut,
    beneficiary: z
      .object({
        id: IdOut('beneficiary').describe('The ID of the beneficiary.'),
        display_name: z.string().describe('The current name of the beneficiary.'),
        destination_mask: z.string().describe('The last characters of the destination.'),
      })
      .nullable()
      .describe('The beneficiary of the refused payment. Null if a whole batch was refused.'),
    amount_minor: MinorOut.describe('The requested amount in minor units (cents). For a batch, the total.'),
    currency: z.string().meta({ description: 'The currency of the amount.', example: 'KES' }),
    account_reference: z.string().nullable().describe('The account reference in the request.'),
    error: z.string().meta({ enum: errorCodes, description: 'The error code of the answer.' }),
    message: z.string().describe('The reason, for people. It never states the balance.'),
    decision: Decision.nullable().describe(
      'The decision without its trace, if a spending rule refused a single payment. `remedy` describes the change that would let it pass.',
    ),
    request_id: z.string().describe('The `X-Request-Id` of the answer.'),
    created_at: TimeOut.describe('When the payment was refused.'),
  })
  .meta({
    id: 'RefusedPayment',
    description:
      'A requested payment that was refused with 402 or 403, or with 409 as a likely duplicate. Kept for 90 days, up to 1,000 per grant in 24 hours.',
  })
export type RefusedPayment = z.output<typeof RefusedPayment>

export const ListPaymentRefusals = PageQuery.extend({
  beneficiary_id: IdIn('beneficiary').optional().describe('Only refused payments to this beneficiary.'),
  grant_id: IdIn('grant').optional().describe('Only refused payments requested through this grant.'),
  initiator_account_id: IdIn('account').optional().describe('Only refused payments requested by this account or its grants.'),
  created_after: TimeIn.optional().describe('Only payments refused after this time.'),
  created_before: TimeIn.optional().describe('Only payments refused before this time.'),
})
