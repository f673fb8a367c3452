import { isPermission } from '../../../auth/permissions.ts'
import { isoTime } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import { presentControls } from '../../delegation/grants/present.ts'
import type { AuthorizationRecord } from '../authorize/authorizations.ts'
import { type ClientRecord, clientIdOf } from '../clients/clients.ts'
import { isLocalRedirect, redirectHost } from '../clients/redirect-uris.ts'
import { storedControls } from '../controls.ts'
import { formatUserCode } from '../device/device.ts'
import type { Authorization, RegisteredClient } from '../schema.ts'
import { formatScope } from '../scopes.ts'
import type { ConsentRequest } from './consent.ts'

export const presentRegistration = (client: ClientRecord, secret: string | null): RegisteredClient => ({
  client_id: clientIdOf(client),
  client_id_issued_at: Math.floor(client.createdAt.getTime() / 1000),
  // 0: it does not expire (RFC 7591 section 3.2.1).
  ...(secret !== null && { client_secret: secret, client_secret_expires_at: 0 }),
  client_name: client.name,
  ...(client.uri !== null && { client_uri: client.uri }),
  redirect_uris: client.redirectUris,
  grant_types: client.grantTypes,
  response_types: client.grantTypes.includes('authorization_code') ? ['code'] : [],
  token_endpoint_auth_method: client.authMethod,
  ...(client.scopes && { scope: formatScope(client.scopes) }),
})

/**
 * A host identifies a client by serving its metadata document, but only for answers that go to that host itself. The device flow has no
 * such answer: every caller can begin it with the address of another client's document, so no host identifies the client.
 */
const verifiedHost = (client: ClientRecord, redirectUri: string | null): string | null => {
  if (client.url === null || redirectUri === null) return null
  const { host, protocol } = new URL(client.url)
  const fits = redirectUri.startsWith('https://') && new URL(redirectUri).host === host
  return fits && protocol === 'https:' ? host : null
}

const statusOf = ({ status, expiresAt }: AuthorizationRecord, now: Date): Authorization['status'] => {
  if (status === 'denied') return 'denied'
  if (status === 'approved' || status === 'redeemed') return 'approved'
  return expiresAt <= now ? 'expired' : 'pending'
}

export const presentConsentRequest = ({ authorization, client, workspaces }: ConsentRequest, now: Date): Authorization => ({
  id: formatId('oauth_authorization', authorization.id),
  flow: authorization.flow,
  status: statusOf(authorization, now),
  client: {
    id: clientIdOf(client),
    name: client.name,
    uri: client.uri,
    verified_host: verifiedHost(client, authorization.redirectUri),
  },
  user_code: authorization.userCode && formatUserCode(authorization.userCode),
  redirect_host: authorization.redirectUri && redirectHost(authorization.redirectUri),
  redirect_is_local: authorization.redirectUri !== null && isLocalRedirect(authorization.redirectUri),
  scopes: authorization.scopes.filter(isPermission),
  spending_controls: presentControls(storedControls(authorization.requestedControls)),
  resources: authorization.resources,
  workspaces: workspaces.map((workspace) => ({ ...workspace, id: formatId('workspace', workspace.id) })),
  created_at: isoTime(authorization.createdAt),
  expires_at: isoTime(authorization.expiresAt),
})
