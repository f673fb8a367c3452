import { z } from 'zod'
import { errorCodes } from '../../../errors/catalogue.ts'
import { PageQuery } from '../../../http/pagination.ts'
import { IdIn, IdOut, MinorOut, TimeIn, TimeOut } from '../../../http/wire.ts'
import { Decision } from '../../policies/schema.ts'

export const RefusedPayment = z
  .object({
    id: IdOut('payment_refusal').describe('The id of the refusal: no payment was made.'),
    workspace_id: IdOut('workspace').describe('The workspace that would have paid.'),
    initiated_by: z
      .object({
        account_id: IdOut('account').describe('The account that asked for it.'),
        grant_id: IdOut('grant').nullable().describe('The API key’s or agent’s grant; null for a person.'),
        label: z.string().nullable().describe('What the key or agent is called.'),
      })
      .describe('Who asked for it.'),
    beneficiary: z
      .object({
        id: IdOut('beneficiary').describe('The payee’s id.'),
        display_name: z.string().describe('The payee’s name as it is at present.'),
        destination_mask: z.string().describe('The last characters of its destination.'),
      })
      .nullable()
      .describe('Who was to be paid. Null for a batch that was refused as a whole.'),
    amount_minor: MinorOut.describe('What was to be paid, in minor units (cents); of a batch the total.'),
    currency: z.string().meta({ description: 'The currency of the amount.', example: 'KES' }),
    account_reference: z.string().nullable().describe('The reference that the request named.'),
    error: z.string().meta({ enum: errorCodes, description: 'The code that the request was refused with.' }),
    message: z.string().describe('Why it was refused, for people. It never states the balance.'),
    decision: Decision.nullable().describe(
      'The decision, without its trace, where a spending rule refused a single payment; `remedy` says what would let it pass.',
    ),
    request_id: z.string().describe('The `X-Request-Id` of the answer.'),
    created_at: TimeOut.describe('When it was refused.'),
  })
  .meta({
    id: 'RefusedPayment',
    description:
      'A payment that was asked for and refused: 402, 403, or 409 for a likely duplicate. Kept for 90 days, and at most 1,000 in 24 hours of one grant.',
  })
export type RefusedPayment = z.output<typeof RefusedPayment>

export const ListPaymentRefusals = PageQuery.extend({
  beneficiary_id: IdIn('beneficiary').optional().describe('Only what was to be paid to this beneficiary.'),
  grant_id: IdIn('grant').optional().describe('Only what was asked for through this grant.'),
  initiator_account_id: IdIn('account').optional().describe('Only what this account asked for, itself or through its grants.'),
  created_after: TimeIn.optional().describe('Only what was refused after this time.'),
  created_before: TimeIn.optional().describe('Only what was refused before this time.'),
})
