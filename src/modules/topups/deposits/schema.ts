import { z } from 'zod'
import { bounded, IdIn } from '../../../http/wire.ts'

export const AssignSuspense = z
  .strictObject({
    account_id: IdIn('account').optional(),
    topup_id: IdIn('topup').optional().meta({ description: 'The top-up that the payer meant; its account is credited.' }),
    note: bounded(500).trim().min(1),
  })
  .refine(({ account_id, topup_id }) => (account_id === undefined) !== (topup_id === undefined), {
    path: ['account_id'],
    message: 'name either account_id or topup_id',
  })
  .meta({ id: 'AssignSuspense' })
export type AssignSuspense = z.output<typeof AssignSuspense>
