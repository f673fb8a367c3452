import { and, desc, eq, getTableColumns, inArray, isNull, lt } from 'drizzle-orm'
import { type Db, first } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { beneficiaries, payees } from '../../db/tables/beneficiaries.ts'
import type { PageRequest } from '../../http/pagination.ts'
import { invalidFields } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'

/** A beneficiary with its payee's freeze: a freeze belongs to the destination, so it holds under every name. */
export type BeneficiaryRecord = typeof beneficiaries.$inferSelect & { frozenAt: Date | null }

const selection = { ...getTableColumns(beneficiaries), frozenAt: payees.frozenAt }

const byId = prepare('beneficiaries.by_id', { workspaceId: 'uuid', id: 'uuid' }, (orm, at) =>
  orm
    .select(selection)
    .from(beneficiaries)
    .innerJoin(payees, eq(payees.id, beneficiaries.payeeId))
    .where(and(eq(beneficiaries.workspaceId, at.workspaceId), eq(beneficiaries.id, at.id))),
)

export const findBeneficiary = (db: Db, workspaceId: Uuid, id: Uuid): Promise<BeneficiaryRecord | undefined> =>
  first(db, byId, { workspaceId, id })

export type BeneficiaryFilter = { includeArchived: boolean; rail?: BeneficiaryRecord['paymentRail'] }

const list = prepare(
  'beneficiaries.list',
  { workspaceId: 'uuid', active: 'flag?', rail: 'text?', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    orm
      .select(selection)
      .from(beneficiaries)
      .innerJoin(payees, eq(payees.id, beneficiaries.payeeId))
      .where(
        and(
          eq(beneficiaries.workspaceId, at.workspaceId),
          at.before && lt(beneficiaries.id, at.before),
          at.active && isNull(beneficiaries.archivedAt),
          at.rail && eq(beneficiaries.paymentRail, at.rail),
        ),
      )
      .orderBy(desc(beneficiaries.id))
      .limit(at.take),
  'page',
)

export const listBeneficiaries = (
  db: Db,
  workspaceId: Uuid,
  page: PageRequest,
  { includeArchived, rail }: BeneficiaryFilter,
): Promise<BeneficiaryRecord[]> => db.run(list, { workspaceId, active: !includeArchived, rail, ...page })

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
