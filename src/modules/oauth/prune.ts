import { lt, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/client.ts'
import { prepareRemoval, prune } from '../../db/prune.ts'
import { oauthAccessTokens, oauthAuthorizations, oauthClients, oauthGrants } from '../../db/tables/oauth.ts'
import type { Clock } from '../../lib/clock.ts'
import { daysAfter } from '../../lib/clock.ts'

/** Used codes are kept for a day after they expire: until then a second use of one still ends the grant of the first. */
const retentionDays = 1
const stateRetentionDays = 30
const unusedClientDays = 7
const idleClientDays = 90

const authorizations = prepareRemoval('oauth.prune_authorizations', oauthAuthorizations, {
  key: oauthAuthorizations.id,
  when: (before) => lt(oauthAuthorizations.expiresAt, before),
  by: [oauthAuthorizations.expiresAt, oauthAuthorizations.id],
})
const accessTokens = prepareRemoval('oauth.prune_access_tokens', oauthAccessTokens, {
  key: oauthAccessTokens.id,
  when: (before) => lt(oauthAccessTokens.expiresAt, before),
  by: [oauthAccessTokens.expiresAt, oauthAccessTokens.id],
})
/** The grant itself stays: it is the history of what was delegated. Without this row its tokens are unknown. */
const deadGrants = prepareRemoval('oauth.prune_grants', oauthGrants, {
  key: oauthGrants.grantId,
  when: (before) => lt(oauthGrants.expiresAt, before),
  by: [oauthGrants.expiresAt, oauthGrants.grantId],
})
/** No account has given them a grant, or is deciding about one. */
const idleClients = (name: string, isIdle: (before: SQL) => SQL) =>
  prepareRemoval(name, oauthClients, {
    key: oauthClients.id,
    when: (before) => sql`${isIdle(before)}
      and not exists (select from ${oauthGrants} where ${oauthGrants.clientId} = ${oauthClients.id})
      and not exists (select from ${oauthAuthorizations} where ${oauthAuthorizations.clientId} = ${oauthClients.id})`,
    by: [oauthClients.id],
  })
const unusedClients = idleClients(
  'oauth.prune_unused_clients',
  (before) => sql`${oauthClients.lastUsedAt} is null and ${oauthClients.createdAt} < ${before}`,
)
const lapsedClients = idleClients('oauth.prune_lapsed_clients', (before) => sql`${oauthClients.lastUsedAt} < ${before}`)

/** Idle registrations, used codes, ended tokens: rows that every caller may create must be deleted some time. */
export const pruneOAuth = async (db: Database, clock: Clock): Promise<void> => {
  const daysAgo = (days: number) => daysAfter(clock.now(), -days)
  await prune(
    db,
    { removal: authorizations, before: daysAgo(retentionDays) },
    { removal: accessTokens, before: daysAgo(retentionDays) },
    { removal: deadGrants, before: daysAgo(stateRetentionDays) },
    { removal: unusedClients, before: daysAgo(unusedClientDays) },
    { removal: lapsedClients, before: daysAgo(idleClientDays) },
  )
}
