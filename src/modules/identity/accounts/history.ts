import { eq, sql } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import type { Db } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { payments } from '../../../db/tables/payments.ts'
import { togetherByIds } from '../../../db/together.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { type HistoryEntry, type HistoryFilter, listHistory } from '../../../ledger/reports.ts'
import type { Uuid } from '../../../lib/ids.ts'

/** Who was paid, and the list that the payment is of. */
export type Payee = { id: Uuid; displayName: string; batchId: Uuid | null; batchName: string | null }
/** Both as they are read, so that what is made of them is kept with them. */
export type NamedEntry = { id: Uuid; entry: HistoryEntry; payee: Payee | null }

const selectPaidTo = prepare(
  'accounts.history_beneficiaries',
  { ids: 'uuid[]' },
  (orm, at) =>
    orm
      .select({
        paymentId: payments.id,
        workspaceId: payments.workspaceId,
        id: beneficiaries.id,
        displayName: beneficiaries.displayName,
        batchId: payments.batchId,
        batchName: paymentBatches.name,
      })
      .from(payments)
      .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
      .leftJoin(paymentBatches, eq(paymentBatches.id, payments.batchId))
      .where(sql`${payments.id} = any(${at.ids})`),
  'page',
)
const paidTo = togetherByIds(
  (db, ids) => db.run(selectPaidTo, { ids }),
  ({ paymentId }) => paymentId,
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
  const rows = scope && ids.length > 0 ? await paidTo(db, ids) : []
  const seen = rows.filter(({ workspaceId }) => scope?.workspaceId === null || workspaceId === scope?.workspaceId)
  const payees = new Map(seen.map((row) => [row.paymentId, row]))
  return entries.map((entry) => ({ id: entry.id, entry, payee: payees.get(entry.referenceId) ?? null }))
}
