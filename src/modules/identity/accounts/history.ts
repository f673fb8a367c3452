import type { Principal } from '../../../auth/principal.ts'
import { type Db, statement } from '../../../db/client.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { type HistoryEntry, type HistoryFilter, listHistory } from '../../../ledger/reports.ts'
import type { Uuid } from '../../../lib/ids.ts'

export type NamedEntry = HistoryEntry & { beneficiary: { id: Uuid; displayName: string } | null }

type Row = { payment_id: Uuid; id: Uuid; display_name: string }

const paidTo = statement(
  'accounts.history_beneficiaries',
  `select p.id as payment_id, b.id, b.display_name from payments p join beneficiaries b on b.id = p.beneficiary_id
   where p.id = any($1) and ($2::uuid is null or p.workspace_id = $2)`,
  'page',
)

/** The workspaces whose beneficiaries the reader may see: in person, all that the account pays for; else the credential's own, or none. */
const scopeOf = ({ grant, permissions, workspace }: Principal): { workspaceId: Uuid | null } | null => {
  if (!permissions.has('beneficiary.read')) return null
  return { workspaceId: grant ? workspace.id : null }
}

/** The ledger's entries; those of payments with the payee. One more query for each page, however long it is. */
export const readHistory = async (
  db: Db,
  principal: Principal,
  page: PageRequest,
  filter: HistoryFilter,
): Promise<NamedEntry[]> => {
  const entries = await listHistory(db, principal.accountId, page, filter)
  const scope = scopeOf(principal)
  const ids = entries.flatMap(({ referenceType, referenceId }) => (referenceType === 'payment' ? [referenceId] : []))
  const rows = scope && ids.length > 0 ? await db.query<Row>(paidTo, [[...new Set(ids)], scope.workspaceId]) : []
  const names = new Map(rows.map((row) => [row.payment_id, { id: row.id, displayName: row.display_name }]))
  return entries.map((entry) => ({ ...entry, beneficiary: names.get(entry.referenceId) ?? null }))
}
