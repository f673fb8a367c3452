import { z } from 'zod'
import { WalletAddress } from '../../../auth/wallet.ts'
import { accountStatuses } from '../../../db/tables/accounts.ts'
import { PageQuery } from '../../../http/pagination.ts'
import { bounded, IdIn, TimeOut, VisibleText } from '../../../http/wire.ts'
import { Account } from './schema.ts'

export const AdminAccount = Account.extend({
  is_admin: z.boolean().meta({ description: 'Named by command, or by ADMIN_ACCOUNTS.' }),
  updated_at: TimeOut,
}).meta({ id: 'AdminAccount' })
export type AdminAccount = z.output<typeof AdminAccount>

export const FindAccounts = PageQuery.extend({
  id: IdIn('account').optional(),
  email: bounded(254)
    .min(1)
    .optional()
    .meta({ description: "The account's e-mail, or the verified e-mail of one of its identities." }),
  wallet_address: WalletAddress.optional(),
  status: z.enum(accountStatuses).optional(),
})
export type FindAccounts = z.output<typeof FindAccounts>

const Switch = z.enum(['active', 'disabled']).optional()
export const Reason = VisibleText(500)

export const AdministerAccount = z
  .strictObject({
    status: z.enum(accountStatuses).optional(),
    capabilities: z.strictObject({ topups: Switch, payments: Switch, api_keys: Switch, oauth: Switch }).optional(),
    reason: Reason.optional(),
  })
  .meta({ id: 'AdministerAccount' })
export type AdministerAccount = z.output<typeof AdministerAccount>
