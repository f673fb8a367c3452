import type { Schemas } from './route-types.ts'
import { answerOf, noAnswer, pause, refusalOf } from './transport.ts'

type Fetch = typeof fetch
export type Tokens = { accessToken: string; refreshToken: string | undefined; expiresAt: number; scope: string }
export type DevicePrompt = {
  userCode: string
  verificationUri: string
  verificationUriComplete: string
  expiresInSeconds: number
}

const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code'

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** A PKCE verifier and its S256 challenge (RFC 7636). */
const newPkce = async (): Promise<{ verifier: string; challenge: string }> => {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)))
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return { verifier, challenge: base64url(new Uint8Array(digest)) }
}

/** The metadata and a refresh are shorter than the time after which another process takes over the lock of a refresh. */
const metadataTimeoutMs = 10_000
const tokenTimeoutMs = 19_000

const isTimeout = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.name === 'TimeoutError'

const post = async <T>(fetch: Fetch, url: string, body: URLSearchParams | string, timeoutMs = tokenTimeoutMs): Promise<T> => {
  const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : undefined
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, { method: 'POST', body, signal, ...(headers && { headers }) }).catch((error: unknown) => {
    throw noAnswer(error, url)
  })
  return answerOf<T>(response)
}

type Metadata = Pick<
  Schemas['OAuthServerMetadata'],
  'registration_endpoint' | 'device_authorization_endpoint' | 'token_endpoint' | 'revocation_endpoint'
>

export const discover = async (fetch: Fetch, baseUrl: string): Promise<Metadata> => {
  const response = await fetch(`${baseUrl}/.well-known/oauth-authorization-server`, {
    signal: AbortSignal.timeout(metadataTimeoutMs),
  }).catch((error: unknown) => {
    throw noAnswer(error, baseUrl)
  })
  return answerOf(response)
}

const toTokens = (answer: Schemas['OAuthTokens']): Tokens => ({
  accessToken: answer.access_token,
  refreshToken: answer.refresh_token,
  expiresAt: Date.now() + answer.expires_in * 1000,
  scope: answer.scope,
})

/** Registers a public client for this installation, because an installation cannot keep a secret. */
export const registerDeviceClient = async (fetch: Fetch, metadata: Metadata, clientName: string): Promise<string> => {
  const registration = {
    client_name: clientName,
    redirect_uris: [],
    grant_types: [deviceGrantType, 'refresh_token'],
    token_endpoint_auth_method: 'none',
  }
  return (await post<{ client_id: string }>(fetch, metadata.registration_endpoint, JSON.stringify(registration))).client_id
}

type DeviceOptions = {
  fetch: Fetch
  metadata: Metadata
  clientId: string
  scope: string | undefined
  /** Shows the person the URL to open and the code to compare. */
  show: (prompt: DevicePrompt) => void
  signal?: AbortSignal
}

/** Whether the service refused a request with this OAuth error. */
export const isRefusedAs = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/** Device flow (RFC 8628) with PKCE. Waits until the person has decided in a browser. */
export const loginByDevice = async ({ fetch, metadata, clientId, scope, show, signal }: DeviceOptions): Promise<Tokens> => {
  const { verifier, challenge } = await newPkce()
  const started = await post<Schemas['OAuthDeviceAuthorization']>(
    fetch,
    metadata.device_authorization_endpoint,
    new URLSearchParams({
      client_id: clientId,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...(scope !== undefined && { scope }),
    }),
  )
  show({
    userCode: started.user_code,
    verificationUri: started.verification_uri,
    verificationUriComplete: started.verification_uri_complete,
    expiresInSeconds: started.expires_in,
  })
  for (let seconds = started.interval; ; ) {
    await pause(seconds * 1000, signal)
    try {
      const fields = {
        grant_type: deviceGrantType,
        device_code: started.device_code,
        client_id: clientId,
        code_verifier: verifier,
      }
      return toTokens(await post(fetch, metadata.token_endpoint, new URLSearchParams(fields)))
    } catch (error) {
      if (isRefusedAs(error, 'slow_down')) seconds += 5
      else if (!isRefusedAs(error, 'authorization_pending')) throw error
    }
  }
}

export const refreshTokens = async (
  fetch: Fetch,
  metadata: Metadata,
  clientId: string,
  refreshToken: string,
): Promise<Tokens> => {
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId }
  const refresh = () =>
    post<Schemas['OAuthTokens']>(fetch, metadata.token_endpoint, new URLSearchParams(fields), tokenTimeoutMs / 2)
  // Only after a timeout: a request that arrives before the first is answered gets the same tokens. A later one counts as reuse.
  return toTokens(await refresh().catch((error: unknown) => (isTimeout(error) ? refresh() : Promise.reject(error))))
}

export const revokeToken = async (fetch: Fetch, metadata: Metadata, clientId: string, token: string): Promise<void> => {
  const url = metadata.revocation_endpoint
  const body = new URLSearchParams({ token, client_id: clientId })
  const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(tokenTimeoutMs) }).catch(
    (error: unknown) => {
      throw noAnswer(error, url)
    },
  )
  if (!response.ok) throw refusalOf(response, await response.text())
}
