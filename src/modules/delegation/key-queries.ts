import { and, eq, gte, lt } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { equalBytes, hashApiKey, type KeyStart } from '../../auth/secrets.ts'
import { type Db, first, type Tx } from '../../db/client.ts'
import { newestFirst, ownedBy } from '../../db/list-queries.ts'
import { type Places, prepare } from '../../db/prepare.ts'
import { apiKeys, grants } from '../../db/tables/grants.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type ApiKeyRecord, presentApiKey, viewGrants } from './present.ts'
import { type GrantRecord, type GrantScope, inScope } from './queries.ts'
import type { ApiKey } from './schema.ts'

export type KeyWithGrant = { key: ApiKeyRecord; grant: GrantRecord }

const keysWithGrants = (orm: QueryBuilder) =>
  orm.select({ key: apiKeys, grant: grants }).from(apiKeys).innerJoin(grants, eq(grants.id, apiKeys.grantId))

const one = { id: 'uuid', accountId: 'uuid', within: 'uuid?' } as const
const selectOne = (orm: QueryBuilder, at: Places<typeof one>) =>
  keysWithGrants(orm).where(and(eq(apiKeys.id, at.id), inScope(at)))

const byId = prepare('api_keys.by_id', one, selectOne, 'joined')
const lockById = prepare('api_keys.lock', one, (orm, at) => selectOne(orm, at).for('update'))

export const findKey = (db: Db, scope: GrantScope, id: Uuid): Promise<KeyWithGrant | undefined> =>
  first(db, byId, { id, ...scope })

/** The grant's lock guards its keys: of two changes at the same time, the second sees the first. */
export const lockKey = (tx: Tx, scope: GrantScope, id: Uuid): Promise<KeyWithGrant | undefined> =>
  first(tx, lockById, { id, ...scope })

const list = prepare(
  'api_keys.list',
  { accountId: 'uuid', within: 'uuid?', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      keysWithGrants(orm),
      { owner: apiKeys.accountId, id: apiKeys.id },
      at,
      ownedBy(apiKeys.accountId, at.accountId),
      inScope(at),
    ),
  'page',
)

export const listKeys = (db: Db, scope: GrantScope, page: PageRequest): Promise<KeyWithGrant[]> =>
  db.run(list, { ...scope, ...page })

const owner = prepare('api_keys.owner', { id: 'uuid' }, (orm, at) =>
  orm.select({ accountId: apiKeys.accountId, grantId: apiKeys.grantId }).from(apiKeys).where(eq(apiKeys.id, at.id)),
)

/** Without a scope, for operators. */
export const findKeyOwner = (db: Db, id: Uuid): Promise<Pick<ApiKeyRecord, 'accountId' | 'grantId'> | undefined> =>
  first(db, owner, { id })

const beginning = prepare(
  'api_keys.beginning',
  { start: 'text', end: 'text' },
  (orm, at) =>
    keysWithGrants(orm)
      .where(and(gte(apiKeys.lookup, at.start), lt(apiKeys.lookup, at.end)))
      .orderBy(apiKeys.lookup)
      .limit(100),
  'pool',
)

/** The keys of any account that begin like a text that was found somewhere; a whole key finds itself alone. For operators. */
export const findKeysThatBegin = async (db: Db, start: KeyStart): Promise<KeyWithGrant[]> => {
  // Hex digits: all that begin like this come before the first letter that is none.
  const rows = await db.run(beginning, { start: start.lookup, end: `${start.lookup}g` })
  rows.sort((one, other) => (one.key.id < other.key.id ? 1 : -1))
  return rows.filter(({ key }) => start.whole === null || equalBytes(hashApiKey(start.whole, key.salt), key.hash))
}

/** When the last of a grant's keys ends; null when one of them has no end. Every end is known when a key is written. */
export const lastKeyEnd = async (db: Db, grantId: Uuid): Promise<Date | null> => {
  const [row] = await db.query<{ endless: boolean; ends_at: Date }>(
    `select bool_or(least(revoked_at, expires_at) is null) as endless, max(least(revoked_at, expires_at)) as ends_at from api_keys where grant_id = $1`,
    [grantId],
  )
  return !row || row.endless ? null : row.ends_at
}

/** The keys as REST returns them now, in the order given. */
export const viewKeys = async (db: Db, at: Date, rows: readonly KeyWithGrant[]): Promise<ApiKey[]> => {
  const unique = [...new Map(rows.map(({ grant }) => [grant.id, grant])).values()]
  const views = new Map((await viewGrants(db, at, unique)).map((grant, index) => [unique[index]?.id, grant]))
  return rows.flatMap(({ key }) => {
    const grant = views.get(key.grantId)
    return grant ? [presentApiKey(key, grant, at)] : []
  })
}
