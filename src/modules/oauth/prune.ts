import { sql } from 'drizzle-orm'
import type { Database } from '../../db/client.ts'
import { prepareRemoval, prune } from '../../db/prune.ts'
import { oauthAccessTokens, oauthAuthorizations, oauthClients, oauthGrants } from '../../db/tables/oauth.ts'
import { type Clock, daysAfter } from '../../lib/clock.ts'

/** Used codes are kept for a day after they expire: until then, a second use of a code still ends the first use's grant. */
const retentionDays = 1
const stateRetentionDays = 30
const unusedClientDays = 7
const idleClientDays = 90

const authorizations = prepareRemoval('oauth.prune_authorizations', oauthAuthorizations.id, oauthAuthorizations.expiresAt)
const accessTokens = prepareRemoval('oauth.prune_access_tokens', oauthAccessTokens.id, oauthAccessTokens.expiresAt)
/** Removes the OAuth state of a grant, which makes its tokens unknown. The grant itself is kept as history. */
const deadGrants = prepareRemoval('oauth.prune_grants', oauthGrants.grantId, oauthGrants.expiresAt)
/** No account has given the client a grant or is deciding about one. */
const isIdle = sql`not exists (select from ${oauthGrants} where ${oauthGrants.clientId} = ${oauthClients.id})
  and not exists (select from ${oauthAuthorizations} where ${oauthAuthorizations.clientId} = ${oauthClients.id})`
const by = [oauthClients.id]
const unusedClients = prepareRemoval('oauth.prune_unused_clients', oauthClients.id, oauthClients.createdAt, {
  condition: sql`${oauthClients.lastUsedAt} is null and ${isIdle}`,
  orderBy: by,
})
const lapsedClients = prepareRemoval('oauth.prune_lapsed_clients', oauthClients.id, oauthClients.lastUsedAt, {
  condition: isIdle,
  orderBy: by,
})

/** Deletes old rows, because any caller can create them. */
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
