import { statement } from '../../db/client.ts'
import { prune } from '../../db/prune.ts'
import { daysAfter } from '../../lib/clock.ts'
import type { Deps } from './deps.ts'

/** Used codes are kept for a day after they expire: until then a second use of one still ends the grant of the first. */
const retentionDays = 1
const stateRetentionDays = 30
const unusedClientDays = 7
const idleClientDays = 90

const authorizations = statement(
  'oauth.prune_authorizations',
  'delete from oauth_authorizations where id in (select id from oauth_authorizations where expires_at < $1 order by expires_at, id limit $2 offset $3) returning 1',
)
const accessTokens = statement(
  'oauth.prune_access_tokens',
  'delete from oauth_access_tokens where id in (select id from oauth_access_tokens where expires_at < $1 order by expires_at, id limit $2 offset $3) returning 1',
)
/** The grant itself stays: it is the history of what was delegated. Without this row its tokens are unknown. */
const deadGrants = statement(
  'oauth.prune_grants',
  `delete from oauth_grants where grant_id in (
     select o.grant_id from oauth_grants o join grants g on g.id = o.grant_id where least(o.expires_at, g.revoked_at) < $1 order by o.grant_id limit $2 offset $3) returning 1`,
)
/** No account has given them a grant, or is deciding about one. */
const idleClients = (name: string, condition: string) =>
  statement(
    name,
    `delete from oauth_clients where id in (
       select c.id from oauth_clients c where ${condition}
         and not exists (select from oauth_grants where client_id = c.id) and not exists (select from oauth_authorizations where client_id = c.id)
       order by c.id limit $2 offset $3) returning 1`,
  )
const unusedClients = idleClients('oauth.prune_unused_clients', 'c.last_used_at is null and c.created_at < $1')
const lapsedClients = idleClients('oauth.prune_lapsed_clients', 'c.last_used_at < $1')

/** Idle registrations, used codes, ended tokens: rows that every caller may create must be deleted some time. */
export const pruneOAuth = async ({ db, clock }: Pick<Deps, 'clock' | 'db'>): Promise<void> => {
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
