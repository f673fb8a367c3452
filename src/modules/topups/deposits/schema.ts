import { z } from 'zod'
import { IdIn } from '../../../http/wire.ts'

export const AssignSuspense = z
  .strictObject({
    account_id: IdIn('account').optional(),
    topup_id: IdIn('topup').optional().meta({ description: 'The deposit that the payer meant; its account gets the money.' }),
    note: z.string().trim().min(1).max(500),
  })
  .refine(({ account_id, topup_id }) => (account_id === undefined) !== (topup_id === undefined), {
    path: ['account_id'],
    message: 'name either account_id or topup_id',
  })
  .meta({ id: 'AssignSuspense' })
export type AssignSuspense = z.output<typeof AssignSuspense>
