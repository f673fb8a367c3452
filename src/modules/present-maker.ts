import { formatId, type Uuid } from '../lib/ids.ts'
import type { Maker } from '../policy/types.ts'
import type { MakerOut } from './makers.ts'

// A file of its own, without a schema or a query, because the verifier of receipts includes it.

export const presentMaker = ({ accountId, grantId, label }: Maker): MakerOut => ({
  account_id: formatId('account', accountId),
  grant_id: grantId && formatId('grant', grantId),
  label,
})

type Made = {
  createdBy: Uuid
  createdByGrantId: Uuid | null
  createdByLabel: string | null
  changedBy: Uuid | null
  changedByGrantId: Uuid | null
  changedByLabel: string | null
}

export const presentMakers = (row: Made): { created_by: MakerOut; changed_by: MakerOut | null } => ({
  created_by: presentMaker({ accountId: row.createdBy, grantId: row.createdByGrantId, label: row.createdByLabel }),
  changed_by:
    row.changedBy === null
      ? null
      : presentMaker({ accountId: row.changedBy, grantId: row.changedByGrantId, label: row.changedByLabel }),
})
