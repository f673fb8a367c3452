import { z } from 'zod'
import { adjustmentKinds, adjustmentStatuses } from '../../db/tables/adjustments.ts'
import { PageQuery } from '../../http/pagination.ts'
import { IdIn, IdOut, MinorOut, PositiveMinorIn, TimeOut } from '../../http/wire.ts'
import { Reason } from '../identity/accounts/admin-schema.ts'

const Direction = z.enum(['credit', 'debit']).meta({ description: "credit raises the account's balance, debit lowers it." })
const By = z
  .string()
  .meta({ description: "An administrator's account, or `shell:` and a user's name.", example: 'acc_01h455vb4pex5vsknk084sn02q' })

export const Adjustment = z
  .object({
    id: IdOut('ledger'),
    kind: z.enum(adjustmentKinds).meta({
      description:
        'balance: a correction of a balance. payment_failed and late_success_written_off: an outcome of the payment that the organisation pays for, decided by resolving it.',
    }),
    status: z.enum(adjustmentStatuses).meta({
      description:
        'pending: a second administrator must agree; no money has moved. cancelled: its payment ended otherwise while it waited, such as by an answer of its rail.',
    }),
    account_id: IdOut('account'),
    payment_id: IdOut('payment').nullable().meta({ description: 'The payment whose outcome it is; null for a balance.' }),
    direction: Direction,
    amount_minor: MinorOut,
    currency: z.string(),
    reason: z.string(),
    requested_by: By,
    decided_by: By.nullable(),
    created_at: TimeOut,
    decided_at: TimeOut.nullable(),
  })
  .meta({
    id: 'Adjustment',
    description:
      'What administrators decide at the cost of the organisation. Of a balance, the ledger account `adjustments` is the other side.',
  })
export type Adjustment = z.output<typeof Adjustment>

export const CreateAdjustment = z.strictObject({
  account_id: IdIn('account'),
  direction: Direction,
  amount_minor: PositiveMinorIn,
  reason: Reason,
})
export type CreateAdjustment = z.output<typeof CreateAdjustment>

export const FindAdjustments = PageQuery.extend({
  status: z.enum(adjustmentStatuses).optional(),
  account_id: IdIn('account').optional(),
})
