import { and, eq } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import type { Principal } from '../../../auth/principal.ts'
import { type Db, first, type Tx } from '../../../db/client.ts'
import { type Places, prepare } from '../../../db/prepare.ts'
import { grants } from '../../../db/tables/grants.ts'
import { oauthAuthorizations, oauthGrants } from '../../../db/tables/oauth.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { ClientRecord } from '../clients/clients.ts'

export type AuthorizationRecord = typeof oauthAuthorizations.$inferSelect

/** How long a person has to sign in and decide. */
export const decisionTtlSeconds = 600

const grantFor = prepare('oauth_grants.of_client', { clientId: 'uuid', accountId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: grants.id })
    .from(oauthGrants)
    .innerJoin(grants, eq(grants.id, oauthGrants.grantId))
    .where(and(eq(oauthGrants.clientId, at.clientId), eq(grants.accountId, at.accountId)))
    .limit(1),
)

/** The person has given this client a grant before, so the client may be answered without asking the person again. */
export const hasGrantFor = async (db: Db, client: ClientRecord, principal: Principal | null): Promise<boolean> => {
  if (!principal) return false
  return (await db.run(grantFor, { clientId: client.id, accountId: principal.accountId })).length > 0
}

/** The public id of a request, for the person who decides it. */
export type AuthorizationName = { id: Uuid } | { userCode: string }

const selectById = (orm: QueryBuilder, at: Places<{ id: 'uuid' }>) =>
  orm
    .select()
    .from(oauthAuthorizations)
    .where(and(eq(oauthAuthorizations.id, at.id), eq(oauthAuthorizations.flow, 'code')))
const selectByUserCode = (orm: QueryBuilder, at: Places<{ userCode: 'text' }>) =>
  orm
    .select()
    .from(oauthAuthorizations)
    .where(and(eq(oauthAuthorizations.userCode, at.userCode), eq(oauthAuthorizations.flow, 'device')))

const byId = prepare('oauth_authorizations.by_id', { id: 'uuid' }, selectById)
const byUserCode = prepare('oauth_authorizations.by_user_code', { userCode: 'text' }, selectByUserCode)
const lockById = prepare('oauth_authorizations.lock', { id: 'uuid' }, (orm, at) => selectById(orm, at).for('update'))
const lockByUserCode = prepare('oauth_authorizations.lock_by_user_code', { userCode: 'text' }, (orm, at) =>
  selectByUserCode(orm, at).for('update'),
)

/** A request that began in another person's browser, or has not reached a browser yet, is not found. */
const visible = (row: AuthorizationRecord | undefined, principal: Principal): AuthorizationRecord => {
  if (!row || row.status === 'pushed') throw notFound()
  if (row.accountId !== null && row.accountId !== principal.accountId) throw notFound()
  return row
}

export const findAuthorization = async (db: Db, principal: Principal, name: AuthorizationName): Promise<AuthorizationRecord> =>
  visible('id' in name ? await first(db, byId, name) : await first(db, byUserCode, name), principal)

export const lockAuthorization = async (tx: Tx, principal: Principal, name: AuthorizationName): Promise<AuthorizationRecord> =>
  visible('id' in name ? await first(tx, lockById, name) : await first(tx, lockByUserCode, name), principal)
