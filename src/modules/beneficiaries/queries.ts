import { and, desc, eq, getTableColumns, inArray, isNull, lt } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { beneficiaries, payees } from '../../db/tables/beneficiaries.ts'
import { invalidFields } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'

/** A beneficiary with its payee's freeze: a freeze belongs to the destination, so it holds under every name. */
export type BeneficiaryRecord = typeof beneficiaries.$inferSelect & { frozenAt: Date | null }

const selection = { ...getTableColumns(beneficiaries), frozenAt: payees.frozenAt }

const select = (db: Db) => db.orm.select(selection).from(beneficiaries).innerJoin(payees, eq(payees.id, beneficiaries.payeeId))

export const findBeneficiary = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<BeneficiaryRecord | undefined> =>
  (await select(db).where(and(eq(beneficiaries.workspaceId, workspaceId), eq(beneficiaries.id, id))))[0]

export type BeneficiaryFilter = { includeArchived: boolean; rail?: BeneficiaryRecord['paymentRail'] }

export const listBeneficiaries = (
  db: Db,
  workspaceId: Uuid,
  page: { before: Uuid | null; take: number },
  filter: BeneficiaryFilter,
): Promise<BeneficiaryRecord[]> =>
  select(db)
    .where(
      and(
        eq(beneficiaries.workspaceId, workspaceId),
        page.before ? lt(beneficiaries.id, page.before) : undefined,
        filter.includeArchived ? undefined : isNull(beneficiaries.archivedAt),
        filter.rail ? eq(beneficiaries.paymentRail, filter.rail) : undefined,
      ),
    )
    .orderBy(desc(beneficiaries.id))
    .limit(page.take)

/** The ids among these that are not beneficiaries of the workspace. */
const missingBeneficiaries = async (db: Db, workspaceId: Uuid, ids: readonly Uuid[]): Promise<Uuid[]> => {
  if (ids.length === 0) return []
  const rows = await db.orm
    .select({ id: beneficiaries.id })
    .from(beneficiaries)
    .where(and(eq(beneficiaries.workspaceId, workspaceId), inArray(beneficiaries.id, [...ids])))
  const known = new Set(rows.map((row) => row.id))
  return ids.filter((id) => !known.has(id))
}

/**
 * Beneficiaries in a list must belong to the workspace: else 400 with the list's path, the same for another tenant's beneficiary as for
 * none.
 */
export const requireBeneficiaries = async (
  db: Db,
  workspaceId: Uuid,
  ids: readonly Uuid[] | null,
  path: string,
): Promise<void> => {
  const missing = await missingBeneficiaries(db, workspaceId, ids ?? [])
  if (missing.length === 0) return
  throw invalidFields(
    ...missing.map((id) => ({ path, message: `${formatId('beneficiary', id)} is not a beneficiary of this workspace` })),
  )
}
