import { and, desc, eq, getTableColumns, ilike, isNotNull, isNull, lt, ne, or, sql } from 'drizzle-orm'
import { alias, type QueryBuilder } from 'drizzle-orm/pg-core'
import type { Principal } from '../../auth/principal.ts'
import { type Db, first, type Tx } from '../../db/client.ts'
import { amongIds, containing, newestFirst, ownedBy } from '../../db/list-queries.ts'
import { type Placeholders, prepare } from '../../db/prepare.ts'
import { selectAmong, selectPage, selectRow } from '../../db/select-rows.ts'
import { beneficiaries, beneficiaryVerifications, payees } from '../../db/tables/beneficiaries.ts'
import { filtersOf, type PageRequest } from '../../http/pagination.ts'
import { takesAnyReference } from '../../lib/account-reference.ts'
import { invalidFields, notFound } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import type { ListBeneficiaries } from './schema.ts'

/** A freeze belongs to the payee, so it applies to all of its beneficiaries. A paybill's freeze applies to all its accounts. */
export type BeneficiaryRecord = typeof beneficiaries.$inferSelect & { frozenAt: Date | null; paybillFrozenAt: Date | null }

/** Encryption context of a destination. A ciphertext that is moved to another row or workspace cannot be decrypted. */
export const destinationContext = (id: Uuid, workspaceId: Uuid): readonly string[] => ['beneficiary', id, workspaceId]

const paybills = alias(payees, 'paybills')
const selectRecords = (orm: QueryBuilder) =>
  orm
    .select({ ...getTableColumns(beneficiaries), frozenAt: payees.frozenAt, paybillFrozenAt: paybills.frozenAt })
    .from(beneficiaries)
    .innerJoin(payees, eq(payees.id, beneficiaries.payeeId))
    .leftJoin(paybills, eq(paybills.id, payees.paybillId))

const byId = prepare('beneficiaries.by_id', { workspaceId: 'uuid', id: 'uuid' }, 'coalesced', (orm, param) =>
  selectRecords(orm).where(and(eq(beneficiaries.workspaceId, param.workspaceId), eq(beneficiaries.id, param.id))),
)

export const findBeneficiary = (db: Db, workspaceId: Uuid, id: Uuid): Promise<BeneficiaryRecord | undefined> =>
  first(db, byId, { workspaceId, id })

const lockRow = selectRow('beneficiaries.lock', beneficiaries, ['id', 'workspaceId'], { lock: 'update' })

export const findForUpdate = async (tx: Tx, workspaceId: Uuid, id: Uuid): Promise<BeneficiaryRecord | undefined> => {
  const [, record] = await Promise.all([lockRow(tx, { id, workspaceId }), findBeneficiary(tx, workspaceId, id)])
  return record
}

/** Other beneficiaries that a freeze of the payee concerns: its own and, for a paybill, those of all accounts at it. */
export const othersUnderFreeze = prepare('beneficiaries.besides', { payeeId: 'uuid', id: 'uuid' }, (orm, param) =>
  selectRecords(orm)
    .where(
      and(
        sql`${beneficiaries.payeeId} = any(array(
          select ${param.payeeId} union all select p.id from payees p where p.paybill_id = ${param.payeeId}))`,
        ne(beneficiaries.id, param.id),
        isNull(beneficiaries.archivedAt),
      ),
    )
    .orderBy(beneficiaries.id),
)

const atSameNumber = prepare('beneficiaries.at_same_number', { payeeId: 'uuid', id: 'uuid' }, 'coalesced', (orm, param) =>
  orm
    .select({ id: beneficiaries.id, displayName: beneficiaries.displayName })
    .from(beneficiaries)
    .where(and(eq(beneficiaries.payeeId, param.payeeId), ne(beneficiaries.id, param.id), isNull(beneficiaries.archivedAt)))
    .orderBy(desc(beneficiaries.id))
    .limit(5),
)

/** Returns other beneficiaries of the same payee. The list is empty for callers without `beneficiary.read`. */
export const readAtSameNumber = async (
  db: Db,
  { permissions }: Pick<Principal, 'permissions'>,
  { id, payeeId }: Pick<BeneficiaryRecord, 'id' | 'payeeId'>,
): Promise<{ id: Uuid; displayName: string }[]> =>
  permissions.has('beneficiary.read') ? db.run(atSameNumber, { id, payeeId }) : []

const page = {
  workspaceId: 'uuid',
  active: 'flag?',
  confirmed: 'flag?',
  proposed: 'flag?',
  verification: 'text?',
  madeByGrantId: 'uuid?',
  sameNumberAs: 'uuid?',
  paymentRail: 'text?',
  pattern: 'text?',
  metadata: 'jsonb?',
  ids: 'uuid[]?',
  before: 'uuid?',
  take: 'rows',
} as const

const matching = (param: Placeholders<typeof page>) =>
  and(
    param.active && isNull(beneficiaries.archivedAt),
    param.confirmed && isNotNull(beneficiaries.confirmedAt),
    param.proposed && isNull(beneficiaries.confirmedAt),
    // Two queries, each with its own index. With `or`, one query would need bitmap scans, which are disabled.
    param.madeByGrantId &&
      sql`${beneficiaries.id} = any(array(select b.id from beneficiaries b where b.created_by_grant_id = ${param.madeByGrantId}
            union select b.id from beneficiaries b where b.changed_by_grant_id = ${param.madeByGrantId}))`,
    param.sameNumberAs &&
      sql`${beneficiaries.payeeId} = (select b.payee_id from beneficiaries b
            where b.id = ${param.sameNumberAs} and b.workspace_id = ${param.workspaceId})`,
    param.paymentRail && eq(beneficiaries.paymentRail, param.paymentRail),
    param.pattern && or(ilike(beneficiaries.displayName, param.pattern), ilike(beneficiaries.legalName, param.pattern)),
    param.metadata && sql`${beneficiaries.metadata} @> ${param.metadata}`,
    param.ids && sql`${beneficiaries.id} = any(${param.ids})`,
  )

/**
 * Orders by all three columns of the index, so that the planner uses it. The shorter index on the workspace also contains
 * beneficiaries with other verification statuses.
 */
const verifiedIds = (orm: QueryBuilder, param: Placeholders<typeof page>) => {
  const { workspaceId, verification, id } = beneficiaries
  const ids = orm.select({ id }).from(beneficiaries)
  const isVerified = sql`${verification} = any(array[${param.verification}]::text[])`
  return ids
    .where(and(ownedBy(workspaceId, param.workspaceId), isVerified, matching(param), param.before && lt(id, param.before)))
    .orderBy(desc(workspaceId), desc(verification), desc(id))
    .limit(param.take)
}

const selectListed = (orm: QueryBuilder, param: Placeholders<typeof page>) => {
  const { workspaceId, id } = beneficiaries
  const owned = ownedBy(workspaceId, param.workspaceId)
  if (!param.verification) return newestFirst(selectRecords(orm), { owner: workspaceId, id }, param, owned, matching(param))
  return newestFirst(selectRecords(orm), { id }, { before: undefined, take: param.take }, amongIds(id, verifiedIds(orm, param)))
}

const list = prepare('beneficiaries.list', page, 'page', selectListed)

export const listBeneficiaries = (
  db: Db,
  workspaceId: Uuid,
  request: PageRequest,
  { status, confirmation, q, id: ids, ...filters }: ListBeneficiaries,
): Promise<BeneficiaryRecord[]> =>
  db.run(list, {
    workspaceId,
    ids,
    ...filtersOf(filters),
    active: status === 'active' || (status === undefined && ids === undefined),
    confirmed: confirmation === 'confirmed',
    proposed: confirmation === 'proposed',
    pattern: q && containing(q),
    ...request,
  })

export const listVerifications = selectPage(
  'beneficiaries.verifications',
  beneficiaryVerifications,
  beneficiaryVerifications.beneficiaryId,
)

/** Finds beneficiaries of any workspace. */
export const findBeneficiaries = selectAmong('beneficiaries.by_ids', beneficiaries, 'id')

const refuseBeneficiaries = (ids: readonly Uuid[], path: string, why: string): void => {
  if (ids.length > 0) throw invalidFields(...ids.map((id) => ({ path, message: `${formatId('beneficiary', id)} ${why}` })))
}

/** `missing`: unknown ids and other tenants' ids, which get the same error. */
const amongOwn = async (db: Db, workspaceId: Uuid, ids: readonly Uuid[]) => {
  const rows = (await findBeneficiaries(db, ids)).filter((row) => row.workspaceId === workspaceId)
  const known = new Set(rows.map((row) => row.id))
  return { rows, missing: ids.filter((id) => !known.has(id)) }
}

/** For policies, whose contents are checked as a whole: an unknown beneficiary is a 400 like any other contradiction. */
export const requireBeneficiaries = async (db: Db, workspaceId: Uuid, ids: readonly Uuid[], path: string): Promise<void> =>
  refuseBeneficiaries((await amongOwn(db, workspaceId, ids)).missing, path, 'is not a beneficiary of this workspace')

/** Refuses paybills without a fixed account reference, because such an entry would allow every account behind the paybill. */
export const requireAllowable = async (db: Db, workspaceId: Uuid, ids: readonly Uuid[] | null, path: string): Promise<void> => {
  const { rows, missing } = await amongOwn(db, workspaceId, ids ?? [])
  if (missing.length > 0) throw notFound(path)
  const refused = rows.filter(takesAnyReference).map(({ id }) => id)
  const why =
    'is a paybill with any account reference, so allowing it would allow every account behind it. Create a beneficiary with a fixed account_reference, and name that one'
  refuseBeneficiaries(refused, path, why)
}
