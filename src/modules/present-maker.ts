import { formatId, type Uuid } from '../lib/ids.ts'
import type { Maker } from '../policy/types.ts'
import type { MakerOut } from './makers.ts'

// A file of its own, without a schema or a query: the verifier of receipts has it too.

export const presentMaker = ({ accountId, grantId, label }: Maker): MakerOut => ({
  account_id: formatId('account', accountId),
  grant_id: grantId && formatId('grant', grantId),
  label,
})

/** A maker as it is stored. */
export const makerOf = (accountId: Uuid, grantId: Uuid | null, label: string | null): Maker => ({ accountId, grantId, label })
