import { and, asc, desc, eq, gt, gte, isNull, lt, ne, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, QueryBuilder } from 'drizzle-orm/pg-core'
import { originsOf } from '../../auth/authority-sql.ts'
import type { Principal } from '../../auth/principal.ts'
import { equalBytes, hashApiKey, type KeyStart } from '../../auth/secrets.ts'
import { type Db, first, statement, type Tx } from '../../db/client.ts'
import { newestFirst, ownedBy } from '../../db/list-queries.ts'
import { type Placeholders, type Prepared, prepare, type Values } from '../../db/prepare.ts'
import { selectAmong, selectByIds, selectRow } from '../../db/select-rows.ts'
import { auditLog } from '../../db/tables/events.ts'
import { apiKeys, grants } from '../../db/tables/grants.ts'
import type { Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import { everyPayee } from '../../policy/scope-sql.ts'

export type GrantRecord = typeof grants.$inferSelect

/** A person sees all grants of the account. A delegated caller sees its own grant and the grants below it. */
export type GrantScope = { accountId: Uuid; within: Uuid | null }

export const scopeOf = (principal: Pick<Principal, 'accountId' | 'grant'>): GrantScope => ({
  accountId: principal.accountId,
  within: principal.grant?.id ?? null,
})

const scope = { accountId: 'uuid', within: 'uuid?' } as const
const page = { before: 'uuid?', take: 'rows' } as const

const inScope = (param: Placeholders<typeof scope>): SQL | undefined =>
  and(
    ownedBy(grants.accountId, param.accountId),
    param.within && sql`(${grants.id} = ${param.within} or ${grants.ancestorIds} @> array[${param.within}])`,
  )

const byId = { id: 'uuid', ...scope } as const
const selectGrant = (orm: QueryBuilder, param: Placeholders<typeof byId>) =>
  orm
    .select()
    .from(grants)
    .where(and(eq(grants.id, param.id), inScope(param)))

const rowInScope =
  <Row>(query: Prepared<Values<typeof byId>, Row>) =>
  (db: Db, within: GrantScope, id: Uuid): Promise<Row | undefined> =>
    first(db, query, { id, ...within })

export const findGrant = rowInScope(prepare('grants.by_id', byId, 'coalesced', selectGrant))
export const lockVisibleGrant = rowInScope(
  prepare('grants.lock_visible', byId, (orm, param) => selectGrant(orm, param).for('update')),
)

const grantPage = { kind: 'text?', ...page } as const
const selectPage = (orm: QueryBuilder, owner: PgColumn, param: Placeholders<typeof grantPage>, scope: SQL | undefined) =>
  newestFirst(orm.select().from(grants), { owner, id: grants.id }, param, scope, param.kind && eq(grants.kind, param.kind))

export const grantList = prepare('grants.list', { ...scope, ...grantPage }, 'page', (orm, param) =>
  selectPage(orm, grants.accountId, param, inScope(param)),
)

export const workspaceGrantList = prepare('grants.of_workspace', { workspaceId: 'uuid', ...grantPage }, 'page', (orm, param) =>
  selectPage(orm, grants.workspaceId, param, ownedBy(grants.workspaceId, param.workspaceId)),
)

/** Unrevoked grants: with a kind all of it, below any parent; else the roots, which the other grants end with. */
export const activeGrants = prepare('grants.active', { ...scope, kind: 'text?', workspaceId: 'uuid?' }, (orm, param) =>
  orm
    .select({ id: grants.id })
    .from(grants)
    .where(
      and(
        inScope(param),
        param.kind ? eq(grants.kind, param.kind) : isNull(grants.parentGrantId),
        param.workspaceId && eq(grants.workspaceId, param.workspaceId),
        isNull(grants.revokedAt),
      ),
    )
    .orderBy(asc(grants.id)),
)

const depth = sql`cardinality(${grants.ancestorIds})`

const isActive = (now: SQL): SQL | undefined =>
  and(isNull(grants.revokedAt), or(isNull(grants.expiresAt), gt(grants.expiresAt, now)))

/** Locks grants, ancestors first. */
const selectForUpdate = (orm: QueryBuilder, ...conditions: (SQL | undefined)[]) =>
  orm
    .select()
    .from(grants)
    .where(and(...conditions))
    .orderBy(asc(depth), asc(grants.id))
    .for('update')

export const lockActive = prepare('grants.lock_active', { workspaceId: 'uuid', now: 'timestamptz' }, (orm, param) =>
  selectForUpdate(orm, eq(grants.workspaceId, param.workspaceId), isActive(param.now)),
)

/** Each grant's newest freeze in the audit log. A freeze by the grant's own account counts only if the grant was not frozen. */
export const lastFreezes = prepare('grants.last_freezes', { ids: 'uuid[]' }, (orm, param) =>
  orm
    .selectDistinctOn([grants.id], { id: grants.id, by: auditLog.accountId })
    .from(auditLog)
    .innerJoin(grants, eq(grants.id, auditLog.subjectId))
    .where(
      and(
        sql`${auditLog.subjectId} = any(${param.ids})`,
        eq(auditLog.action, 'grant.update'),
        sql`${auditLog.after}->>'frozen' = 'true'`,
        or(sql`${auditLog.before}->>'frozen' = 'false'`, ne(auditLog.accountId, grants.accountId)),
      ),
    )
    .orderBy(grants.id, desc(auditLog.transaction), desc(auditLog.id)),
)

/**
 * SQL for the total of a grant that is older than totals: the amount that it and its descendants have paid. Null for other grants.
 * The query that contains it reads the grant from `grants`.
 */
export const uncountedTotalSql = `(case when grants.total_seeded_at is null then coalesce(
  (select sum(t.used_minor) from grants below join spending_totals t on t.grant_id = below.id
    where below.workspace_id = grants.workspace_id and (below.id = grants.id or below.ancestor_ids @> array[grants.id])
      and t.workspace_id = grants.workspace_id and t.payee_id = '${everyPayee}'), 0) end)`

export const findGrantOfWorkspace = selectRow('grants.in_workspace', grants, ['id', 'workspaceId'])
export const lockGrantOfWorkspace = selectRow('grants.lock_in_workspace', grants, ['id', 'workspaceId'], { lock: 'update' })

const lockById = selectRow('grants.lock', grants, ['id'], { lock: 'update' })

export const lockGrants = selectByIds('grants.lock_these', (orm, ids) => selectForUpdate(orm, sql`${grants.id} = any(${ids})`))

export const lockGrant = async (tx: Tx, id: Uuid): Promise<GrantRecord> =>
  assertPresent(await lockById(tx, { id }), 'a grant that must exist is missing')

/** Locks a lineage, root first, so that none of its grants can be revoked before the transaction ends. */
export const lockShared = selectByIds('grants.share_chain', (orm, ids) =>
  orm.select().from(grants).where(sql`${grants.id} = any(${ids})`).orderBy(asc(depth)).for('share'),
)

const readGrant = selectRow('grants.ancestors', grants, ['id'])

export const lockLineageShared = async (tx: Tx, id: Uuid): Promise<GrantRecord[]> => {
  const grant = await readGrant(tx, { id })
  return grant ? lockShared(tx, [...grant.ancestorIds, id]) : []
}

const readOrigin = statement('grants.origin')`
  with recursive ${originsOf('origin', 'select $1::uuid')} select from origin where id = $2 and id <> $1`

/** Whether the grant is below `from`, or was created in a session that `from` began, directly or in several steps. */
export const derivesFrom = async (tx: Tx, { id, ancestorIds }: GrantRecord, from: Uuid): Promise<boolean> =>
  ancestorIds.includes(from) || (await tx.query(readOrigin, [id, from])).length > 0

const rootOf = ({ id, ancestorIds }: Pick<GrantRecord, 'id' | 'ancestorIds'>): Uuid => ancestorIds[0] ?? id

// Two queries, because a single query with `or` would need bitmap scans, which the connection settings disable.

/** Searches by root, which has an index. An index on all ancestors would need bitmap scans too. */
const lockBelow = prepare('grants.lock_below', { roots: 'uuid[]', above: 'uuid[]', known: 'uuid[]' }, (orm, param) =>
  selectForUpdate(
    orm,
    sql`${grants.ancestorIds}[1] = any(${param.roots}) and ${grants.ancestorIds} && ${param.above} and ${grants.id} <> all(${param.known})`,
    isNull(grants.revokedAt),
  ),
)

const lockDerived = prepare('grants.lock_derived', { from: 'uuid[]', known: 'uuid[]' }, (orm, param) =>
  selectForUpdate(
    orm,
    sql`${grants.derivedFromGrantId} = any(${param.from}) and ${grants.id} <> all(${param.known})`,
    isNull(grants.revokedAt),
  ),
)

/** Locks the descendants, ancestors first. The caller has locked the grant itself. */
export const lockDescendants = (tx: Tx, grant: GrantRecord): Promise<GrantRecord[]> =>
  tx.run(lockBelow, { roots: [rootOf(grant)], above: [grant.id], known: [grant.id] })

/** Locks all grants that end with the given ones: descendants, grants created in sessions that these began, and so on. */
export const lockDependents = async (tx: Tx, roots: readonly GrantRecord[]): Promise<GrantRecord[]> => {
  const chain: GrantRecord[] = []
  for (let last = [...roots]; last.length > 0; ) {
    const from = last.map(({ id }) => id)
    const known = () => [...roots, ...chain].map(({ id }) => id)
    const below = await tx.run(lockBelow, { roots: [...new Set(last.map(rootOf))], above: from, known: known() })
    chain.push(...below)
    const derived = await tx.run(lockDerived, { from, known: known() })
    chain.push(...derived)
    last = [...below, ...derived]
  }
  return chain
}

export type ApiKeyRecord = typeof apiKeys.$inferSelect
export type KeyWithGrant = { key: ApiKeyRecord; grant: GrantRecord }

const keysWithGrants = (orm: QueryBuilder) =>
  orm.select({ key: apiKeys, grant: grants }).from(apiKeys).innerJoin(grants, eq(grants.id, apiKeys.grantId))

const selectKey = (orm: QueryBuilder, param: Placeholders<typeof byId>) =>
  keysWithGrants(orm).where(and(eq(apiKeys.id, param.id), inScope(param)))

export const findKey = rowInScope(prepare('api_keys.by_id', byId, 'coalesced', selectKey))

/** Locks a key and its grant, so that the second of two concurrent changes sees the first. */
export const lockKey = rowInScope(prepare('api_keys.lock', byId, (orm, param) => selectKey(orm, param).for('update')))

export const keyList = prepare('api_keys.list', { ...scope, ...page }, 'page', (orm, param) =>
  newestFirst(
    keysWithGrants(orm),
    { owner: apiKeys.accountId, id: apiKeys.id },
    param,
    ownedBy(apiKeys.accountId, param.accountId),
    inScope(param),
  ),
)

export const listKeysByIds = selectByIds('api_keys.by_ids', (orm, ids) =>
  keysWithGrants(orm).where(sql`${apiKeys.id} = any(${ids})`),
)

export const listGrantsByIds = selectAmong('grants.by_ids', grants, 'id')

export const findAnyKey = selectRow('api_keys.of_any', apiKeys, ['id'])

const keysBeginning = prepare('api_keys.beginning', { start: 'text', end: 'text' }, 'pool', (orm, param) =>
  keysWithGrants(orm)
    .where(and(gte(apiKeys.lookup, param.start), lt(apiKeys.lookup, param.end)))
    .orderBy(apiKeys.lookup)
    .limit(100),
)

/** Finds keys for operators by how they begin. A complete key matches only itself. */
export const findKeysThatBegin = async (db: Db, start: KeyStart): Promise<KeyWithGrant[]> => {
  // `g` sorts after every hexadecimal digit.
  const rows = await db.run(keysBeginning, { start: start.lookup, end: `${start.lookup}g` })
  rows.sort((a, b) => (a.key.id < b.key.id ? 1 : -1))
  return rows.filter(({ key }) => start.fullKey === null || equalBytes(hashApiKey(start.fullKey, key.salt), key.hash))
}

/** The latest end of a grant's keys, or null if one has no end. A key's end is known when the key is written. */
export const lastKeyEnd = async (db: Db, grantId: Uuid): Promise<Date | null> => {
  const [row] = await db.query<{ endless: boolean; ends_at: Date }>(
    `select bool_or(least(revoked_at, expires_at) is null) as endless, max(least(revoked_at, expires_at)) as ends_at from api_keys where grant_id = $1`,
    [grantId],
  )
  return !row || row.endless ? null : row.ends_at
}
