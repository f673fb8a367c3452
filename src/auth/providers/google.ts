import { z } from 'zod'
import { equalBytes, sha256 } from '../secrets.ts'
import {
  authorizationUrl,
  type IdentityProvider,
  notOfThisFlow,
  type ProvenSubject,
  providerFailed,
  readEmail,
  readName,
  requestJson,
  requestProvider,
  timeoutMs,
} from './provider.ts'

type GoogleEndpoints = { authorize: string; token: string; keys: string }

export type GoogleOptions = {
  clientId: string
  clientSecret: string
  /** The issuer under which its identities are stored. */
  issuer: string
  /** The issuers that an ID token may name. */
  tokenIssuers: readonly string[]
  endpoints: () => Promise<GoogleEndpoints>
}

export const googleIssuer = 'https://accounts.google.com'
/** Google's ID tokens name it with and without the scheme. */
export const googleTokenIssuers = [googleIssuer, 'accounts.google.com']
export const googleEndpoints: GoogleEndpoints = {
  authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  keys: 'https://www.googleapis.com/oauth2/v3/certs',
}

const Discovery = z.object({ issuer: z.string(), authorization_endpoint: z.url(), token_endpoint: z.url(), jwks_uri: z.url() })

/** A stand-in may write its issuer with a slash at its end. */
export const issuerForms = (issuer: string): string[] => [issuer, `${issuer}/`]

/** OpenID Connect Discovery, for a stand-in; read when it is needed, and kept after an answer. */
export const discover = (issuer: string): (() => Promise<GoogleEndpoints>) => {
  let known: GoogleEndpoints | undefined
  return async () => {
    if (known) return known
    const document = await requestJson('google', Discovery, `${issuer}/.well-known/openid-configuration`)
    if (!issuerForms(issuer).includes(document.issuer))
      throw providerFailed('google', 'its discovery document names another issuer')
    known = { authorize: document.authorization_endpoint, token: document.token_endpoint, keys: document.jwks_uri }
    return known
  }
}

const Claims = z.object({
  sub: z.string().min(1).max(255),
  nonce: z.string(),
  email: z.unknown().optional(),
  email_verified: z.unknown().optional(),
  name: z.unknown().optional(),
})

const Tokens = z.object({ id_token: z.string().min(1) })

const cacheSeconds = 3600
/** Google's clock and ours may differ. */
const toleranceSeconds = 300
const maxAgeSeconds = 86_400

/** The library is loaded at the first sign-in: many processes never have one. */
const jose = () => import('jose')

/** The provider's signing keys, kept for an hour; for an unknown key the list is read again at once, because keys rotate. */
const keySetAt = async (url: string) => {
  const { createRemoteJWKSet } = await jose()
  return createRemoteJWKSet(new URL(url), { timeoutDuration: timeoutMs, cacheMaxAge: cacheSeconds * 1000, cooldownDuration: 0 })
}

export const createGoogle = ({ clientId, clientSecret, issuer, tokenIssuers, endpoints }: GoogleOptions): IdentityProvider => {
  let keys: ReturnType<typeof keySetAt> | undefined

  const exchange = async (code: string, verifier: string, redirectUri: string): Promise<string> => {
    const { token } = await endpoints()
    const body = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      code,
      code_verifier: verifier,
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
    })
    const answer = await requestProvider('google', token, { method: 'POST', body })
    if (answer.status === 400) throw notOfThisFlow('google', 'the code is not accepted')
    if (answer.status !== 200) throw providerFailed('google', `HTTP ${answer.status}`)
    const tokens = Tokens.safeParse(answer.body)
    if (!tokens.success) throw providerFailed('google', 'there is no ID token')
    return tokens.data.id_token
  }

  /** The library checks signature, issuer, audience and times; the nonce ties the token to the browser's flow. */
  const verify = async (idToken: string, nonce: string): Promise<ProvenSubject> => {
    const { errors, jwtVerify } = await jose()
    keys ??= keySetAt((await endpoints()).keys)
    const { payload } = await jwtVerify(idToken, await keys, {
      algorithms: ['RS256'],
      audience: clientId,
      issuer: [...tokenIssuers],
      requiredClaims: ['exp'],
      maxTokenAge: maxAgeSeconds,
      clockTolerance: toleranceSeconds,
    }).catch((error: unknown) => {
      const ofKeys = [errors.JWKSInvalid, errors.JWKSTimeout].some((kind) => error instanceof kind)
      const isRefused = error instanceof errors.JOSEError && error.code !== 'ERR_JOSE_GENERIC' && !ofKeys
      throw isRefused ? notOfThisFlow('google', 'the ID token is not valid') : providerFailed('google', 'its keys cannot be read')
    })
    const claims = Claims.safeParse(payload)
    if (!claims.success) throw notOfThisFlow('google', 'the ID token lacks what it must say')
    const { sub, email, email_verified, name } = claims.data
    if (!equalBytes(sha256(claims.data.nonce), sha256(nonce))) throw notOfThisFlow('google', 'the ID token is of another flow')
    return { subject: sub, email: readEmail(email), emailVerified: email_verified === true, displayName: readName(name) }
  }

  return {
    issuer,
    authorizationUrl: async (flow, { redirectUri, chooseAccount }) =>
      authorizationUrl((await endpoints()).authorize, flow, {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        nonce: flow.nonce,
        ...(chooseAccount && { prompt: 'select_account' }),
      }),
    redeem: async ({ verifier, nonce }, { code, redirectUri }) => verify(await exchange(code, verifier, redirectUri), nonce),
  }
}
