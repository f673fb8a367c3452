import { ConnectionError, PaymentsError } from './errors.ts'
import type { Schemas } from './route-types.ts'
import { answerOf, mayPass, noAnswer, pause } from './transport.ts'

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

const metadataTimeoutMs = 10_000
const tokenTimeoutMs = 19_000
/** Two tries and the metadata together take less than `maxLockMs` of cli/store.ts, after which another process takes the lock. */
const refreshTryTimeoutMs = 9_500

const isTimeout = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.name === 'TimeoutError'

type Limits = { timeoutMs?: number; signal?: AbortSignal | undefined }

/** The answer to one request. `signal`: ends it at once, with the signal's reason. */
const request = async <T>(url: string, init: RequestInit, { timeoutMs = tokenTimeoutMs, signal }: Limits = {}): Promise<T> => {
  const patience = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, patience]) : patience }).catch(
      (error: unknown) => {
        throw noAnswer(error, new URL(url).origin)
      },
    )
    return await answerOf<T>(response)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

const postForm = <T>(url: string, fields: Record<string, string>, limits?: Limits): Promise<T> =>
  request(url, { method: 'POST', body: new URLSearchParams(fields) }, limits)

const postJson = <T>(url: string, body: unknown): Promise<T> =>
  request(url, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })

type Metadata = Pick<
  Schemas['OAuthServerMetadata'],
  'registration_endpoint' | 'device_authorization_endpoint' | 'token_endpoint' | 'revocation_endpoint'
>

export const discover = (baseUrl: string): Promise<Metadata> =>
  request(`${baseUrl}/.well-known/oauth-authorization-server`, {}, { timeoutMs: metadataTimeoutMs })

const toTokens = (answer: Schemas['OAuthTokens']): Tokens => ({
  accessToken: answer.access_token,
  refreshToken: answer.refresh_token,
  expiresAt: Date.now() + answer.expires_in * 1000,
  scope: answer.scope,
})

/** Registers a public client for this installation, because an installation cannot keep a secret. */
export const registerDeviceClient = async (metadata: Metadata, clientName: string): Promise<string> => {
  const registration = {
    client_name: clientName,
    redirect_uris: [],
    grant_types: [deviceGrantType, 'refresh_token'],
    token_endpoint_auth_method: 'none',
  }
  return (await postJson<{ client_id: string }>(metadata.registration_endpoint, registration)).client_id
}

type DeviceOptions = {
  metadata: Metadata
  clientId: string
  scope: string | undefined
  /** Shows the person the URL to open and the code to compare. */
  show: (prompt: DevicePrompt) => void
  signal?: AbortSignal
}

/** Whether the service refused a request with one of these OAuth errors. */
export const isRefusedAs = (error: unknown, ...codes: string[]): boolean =>
  error instanceof PaymentsError && codes.includes(error.code)

const longestPollSeconds = 60

/** RFC 8628, section 3.5: a client polls less often after a lost connection. A busy or restarting service ends no login either. */
const nextPollSeconds = (error: unknown, seconds: number): number | undefined => {
  if (isRefusedAs(error, 'authorization_pending')) return seconds
  if (isRefusedAs(error, 'slow_down')) return seconds + 5
  if (error instanceof ConnectionError) return Math.min(seconds * 2, longestPollSeconds)
  if (!(error instanceof PaymentsError && mayPass(error))) return undefined
  return Math.max(Math.min(seconds * 2, longestPollSeconds), (error.retryAfterMs ?? 0) / 1000)
}

/** Device flow (RFC 8628) with PKCE. Waits until the person has decided in a browser. */
export const loginByDevice = async ({ metadata, clientId, scope, show, signal }: DeviceOptions): Promise<Tokens> => {
  const { verifier, challenge } = await newPkce()
  const fields = {
    client_id: clientId,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(scope !== undefined && { scope }),
  }
  const endpoint = metadata.device_authorization_endpoint
  const started = await postForm<Schemas['OAuthDeviceAuthorization']>(endpoint, fields, { signal })
  const endsAt = Date.now() + started.expires_in * 1000
  show({
    userCode: started.user_code,
    verificationUri: started.verification_uri,
    verificationUriComplete: started.verification_uri_complete,
    expiresInSeconds: started.expires_in,
  })
  for (let seconds = started.interval; ; ) {
    await pause(seconds * 1000, signal)
    try {
      const poll = {
        grant_type: deviceGrantType,
        device_code: started.device_code,
        client_id: clientId,
        code_verifier: verifier,
      }
      return toTokens(await postForm(metadata.token_endpoint, poll, { signal }))
    } catch (error) {
      const next = nextPollSeconds(error, seconds)
      if (next === undefined || Date.now() > endsAt) throw error
      seconds = next
    }
  }
}

/**
 * Retries only after a timeout. If the service is still working on the first request, both get the same tokens. If it has answered
 * it, the retry counts as reuse and the grant ends, as any later refresh would end it.
 */
export const refreshTokens = async (metadata: Metadata, clientId: string, refreshToken: string): Promise<Tokens> => {
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId }
  const refresh = () => postForm<Schemas['OAuthTokens']>(metadata.token_endpoint, fields, { timeoutMs: refreshTryTimeoutMs })
  return toTokens(await refresh().catch((error: unknown) => (isTimeout(error) ? refresh() : Promise.reject(error))))
}

export const revokeToken = (metadata: Metadata, clientId: string, token: string): Promise<unknown> =>
  postForm(metadata.revocation_endpoint, { token, client_id: clientId })
