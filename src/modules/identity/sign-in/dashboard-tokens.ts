import type { Principal } from '../../../auth/principal.ts'
import { newSecret, sha256 } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import type { Tx } from '../../../db/client.ts'
import { prepareInsert } from '../../../db/prepare-write.ts'
import { dashboardTokens } from '../../../db/tables/sessions.ts'
import { audit } from '../../../events/audit.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { Refusal } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'

const insertToken = prepareInsert('dashboard_tokens.insert', dashboardTokens)

/** A short-lived bearer with the caller's own workspace, permissions and grant; it ends with the credential that issued it. */
export const createDashboardToken = async (
  tx: Tx,
  config: Config,
  principal: Principal,
): Promise<{ token: string; expiresInSeconds: number }> => {
  const { kind, id: credentialId } = principal.credential
  // A token that could issue another one would outlive the credential behind it.
  if (kind === 'dashboard') throw new Refusal('forbidden', { message: 'A dashboard token cannot create another one.' })
  const { at } = tx
  const token = newSecret('dashboard_token')
  const ttl = config.DASHBOARD_TOKEN_TTL_SECONDS
  const natural = secondsAfter(at, ttl)
  const expiresAt = principal.expiresAt && principal.expiresAt < natural ? principal.expiresAt : natural
  const id = newId()
  insertToken(tx, {
    id,
    accountId: principal.accountId,
    workspaceId: principal.workspace.id,
    tokenHash: sha256(token),
    sessionId: kind === 'session' ? credentialId : null,
    apiKeyId: kind === 'api_key' ? credentialId : null,
    oauthTokenId: kind === 'oauth' ? credentialId : null,
    grantId: principal.grant?.id ?? null,
    createdAt: at,
    expiresAt,
  })
  await audit(tx, principal, at, { action: 'dashboard_token.create', subject: { type: 'dashboard_token', id } })
  return { token, expiresInSeconds: Math.floor((expiresAt.getTime() - at.getTime()) / 1000) }
}
