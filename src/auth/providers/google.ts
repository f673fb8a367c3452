import type { CodeChallengeMethod, OAuth2Client } from 'google-auth-library'
import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { equalBytes, sha256 } from '../secrets.ts'
import { createKeySet } from './keys.ts'
import { type IdentityProvider, notOfThisFlow, type ProvenSubject, providerFailed, readEmail, readName } from './provider.ts'
import { requestJson } from './request.ts'

export type GoogleEndpoints = { authorize: string; token: string; keys: string }

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

const Header = z.object({ kid: z.string(), alg: z.literal('RS256') })
const Claims = z.object({
  sub: z.string().min(1).max(255),
  nonce: z.string(),
  email: z.unknown().optional(),
  email_verified: z.unknown().optional(),
  name: z.unknown().optional(),
})

const timeoutMs = 10_000

const keyIdOf = (token: string): string => {
  const [header = ''] = token.split('.')
  try {
    return Header.parse(JSON.parse(Buffer.from(header, 'base64url').toString())).kid
  } catch {
    throw notOfThisFlow('google', 'the ID token is not signed as Google signs')
  }
}

const statusOf = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'status' in error && typeof error.status === 'number' ? error.status : undefined

export const createGoogle = (options: GoogleOptions, clock: Clock): IdentityProvider => {
  const { clientId, clientSecret, issuer, tokenIssuers } = options
  const keySet = createKeySet(clock)

  /** The library is loaded at the first sign-in: many processes never have one. */
  const clientOf = async (endpoints: GoogleEndpoints, redirectUri: string): Promise<OAuth2Client> => {
    const { OAuth2Client: Client } = await import('google-auth-library')
    return new Client({
      clientId,
      clientSecret,
      redirectUri,
      endpoints: { oauth2AuthBaseUrl: endpoints.authorize, oauth2TokenUrl: endpoints.token },
      transporterOptions: { timeout: timeoutMs, redirect: 'error' },
    })
  }

  const exchange = async (client: OAuth2Client, code: string, codeVerifier: string): Promise<string> => {
    const answer = await client.getToken({ code, codeVerifier }).catch((error: unknown) => {
      const status = statusOf(error)
      if (status === 400) throw notOfThisFlow('google', 'the code is not accepted')
      throw providerFailed('google', status === undefined ? 'it cannot be reached' : `HTTP ${status}`)
    })
    if (!answer.tokens.id_token) throw providerFailed('google', 'there is no ID token')
    return answer.tokens.id_token
  }

  /** The library checks signature, issuer, audience and times; the nonce ties the token to the browser's flow. */
  const verify = async (client: OAuth2Client, idToken: string, keysUrl: string, nonce: string): Promise<ProvenSubject> => {
    const certificates = await keySet(keysUrl, keyIdOf(idToken))
    const ticket = await client
      .verifySignedJwtWithCertsAsync(idToken, { ...certificates }, clientId, [...tokenIssuers])
      .catch(() => {
        throw notOfThisFlow('google', 'the ID token is not valid')
      })
    const claims = Claims.safeParse(ticket.getPayload())
    if (!claims.success) throw notOfThisFlow('google', 'the ID token lacks what it must say')
    const { sub, email, email_verified, name } = claims.data
    if (!equalBytes(sha256(claims.data.nonce), sha256(nonce))) throw notOfThisFlow('google', 'the ID token is of another flow')
    return { subject: sub, email: readEmail(email), emailVerified: email_verified === true, displayName: readName(name) }
  }

  return {
    issuer,
    authorizationUrl: async ({ state, nonce, verifier }, { redirectUri, chooseAccount }) =>
      (await clientOf(await options.endpoints(), redirectUri)).generateAuthUrl({
        scope: ['openid', 'email', 'profile'],
        state,
        nonce,
        code_challenge: sha256(verifier).toString('base64url'),
        code_challenge_method: 'S256' as CodeChallengeMethod,
        ...(chooseAccount && { prompt: 'select_account' }),
      }),
    redeem: async ({ verifier, nonce }, { code, redirectUri }) => {
      const endpoints = await options.endpoints()
      const client = await clientOf(endpoints, redirectUri)
      return verify(client, await exchange(client, code, verifier), endpoints.keys, nonce)
    },
  }
}
