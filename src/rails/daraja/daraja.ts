import type { CollectionAdapter, DepositAdapter, OrganisationAccount, PayoutAdapter } from '../rail.ts'
import { createAccount } from './account.ts'
import { createCollectionRail } from './collection.ts'
import { createCredential } from './credentials.ts'
import { createPaybillDeposits } from './deposits.ts'
import { createGateway } from './gateway.ts'
import { createLookUp } from './look-up.ts'
import type { DarajaDeps, DarajaOptions } from './options.ts'
import { createPayoutRail } from './payout.ts'

/** M-PESA through Daraja: payouts to phones (B2C) and organisations (B2B), collections by STK push, over one shared token, and the organisation's own account. */
type Daraja = {
  payout: PayoutAdapter
  collection: CollectionAdapter
  deposits: DepositAdapter | null
  account: OrganisationAccount
}

export const createDaraja = (input: DarajaOptions, deps: DarajaDeps): Daraja => {
  const options = { ...input, baseUrl: input.baseUrl.replace(/\/+$/, '') }
  const post = createGateway(options, deps)
  const credential = createCredential(options.certificatePem, options.initiatorPassword)
  return {
    account: createAccount(options, post, credential),
    payout: createPayoutRail(options, post, { credential, lookUp: createLookUp(options, post, deps.clock) }),
    deposits: createPaybillDeposits(options, post),
    collection: createCollectionRail(options, post, deps.clock),
  }
}
