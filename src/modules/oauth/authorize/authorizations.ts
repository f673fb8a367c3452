import { and, eq } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import type { Db, Tx } from '../../../db/client.ts'
import { grants } from '../../../db/tables/grants.ts'
import { oauthAuthorizations, oauthGrants } from '../../../db/tables/oauth.ts'
import { dashboardTokens } from '../../../db/tables/sessions.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { ClientRecord } from '../clients/clients.ts'

export type AuthorizationRecord = typeof oauthAuthorizations.$inferSelect

/** How long a person has to sign in and decide. */
export const decisionTtlSeconds = 600

/** The browser's session that a caller acts in, also when it acts with a dashboard token that the session issued. */
export const sessionOf = async (db: Db, { credential }: Principal): Promise<Uuid | null> => {
  if (credential.kind === 'session') return credential.id
  if (credential.kind !== 'dashboard') return null
  const [row] = await db.orm
    .select({ id: dashboardTokens.sessionId })
    .from(dashboardTokens)
    .where(eq(dashboardTokens.id, credential.id))
  return row?.id ?? null
}

/** The person has given this client a grant before, so the client may be answered without asking the person again. */
export const hasGrantFor = async (db: Db, client: ClientRecord, principal: Principal | null): Promise<boolean> => {
  if (!principal) return false
  const known = await db.orm
    .select({ id: grants.id })
    .from(oauthGrants)
    .innerJoin(grants, eq(grants.id, oauthGrants.grantId))
    .where(and(eq(oauthGrants.clientId, client.id), eq(grants.accountId, principal.accountId)))
    .limit(1)
  return known.length > 0
}

/** The public id of a request, for the person who decides it. */
export type AuthorizationName = { id: Uuid } | { userCode: string }

const named = (name: AuthorizationName) =>
  'id' in name
    ? and(eq(oauthAuthorizations.id, name.id), eq(oauthAuthorizations.flow, 'code'))
    : and(eq(oauthAuthorizations.userCode, name.userCode), eq(oauthAuthorizations.flow, 'device'))

/** A request that began in another person's browser, or has not reached a browser yet, is not found. */
const visible = (row: AuthorizationRecord | undefined, principal: Principal): AuthorizationRecord => {
  if (!row || row.status === 'pushed') throw notFound()
  if (row.accountId !== null && row.accountId !== principal.accountId) throw notFound()
  return row
}

export const findAuthorization = async (db: Db, principal: Principal, name: AuthorizationName): Promise<AuthorizationRecord> =>
  visible((await db.orm.select().from(oauthAuthorizations).where(named(name)))[0], principal)

export const lockAuthorization = async (tx: Tx, principal: Principal, name: AuthorizationName): Promise<AuthorizationRecord> =>
  visible((await tx.orm.select().from(oauthAuthorizations).where(named(name)).for('update'))[0], principal)
