import type { CollectionRail, PayoutRail } from '../rail.ts'
import { createCollectionRail } from './collection.ts'
import { createCredential } from './credentials.ts'
import { createGateway } from './gateway.ts'
import type { DarajaDeps, DarajaOptions } from './options.ts'
import { createPayoutRail } from './payout.ts'

/** M-PESA through Daraja: payouts to phones (B2C) and organisations (B2B), collections by STK push, over one shared token. */
export const createDaraja = (input: DarajaOptions, deps: DarajaDeps): { payout: PayoutRail; collection: CollectionRail } => {
  const options = { ...input, baseUrl: input.baseUrl.replace(/\/+$/, '') }
  const post = createGateway(options, deps)
  return {
    payout: createPayoutRail(options, post, createCredential(options.certificatePem, options.initiatorPassword)),
    collection: createCollectionRail(options, post, deps.clock),
  }
}
