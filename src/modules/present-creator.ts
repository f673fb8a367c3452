import { formatId, type Uuid } from '../lib/ids.ts'
import type { Creator } from '../policy/types.ts'
import type { CreatorOut } from './creators.ts'

// Separate from the schema and its queries, because the receipt verifier includes this file.

export const presentCreator = ({ accountId, grantId, label }: Creator): CreatorOut => ({
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

export const presentCreators = (row: Made): { created_by: CreatorOut; changed_by: CreatorOut | null } => ({
  created_by: presentCreator({ accountId: row.createdBy, grantId: row.createdByGrantId, label: row.createdByLabel }),
  changed_by:
    row.changedBy === null
      ? null
      : presentCreator({ accountId: row.changedBy, grantId: row.changedByGrantId, label: row.changedByLabel }),
})
