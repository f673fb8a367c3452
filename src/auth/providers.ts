import { z } from 'zod'
import { invalidAt, Refusal } from '../lib/errors.ts'
import { cleanName } from '../lib/text.ts'
import { equalBytes, sha256 } from './secrets.ts'

export type ProviderName = 'google' | 'github'
export const providerTitles: Readonly<Record<ProviderName, string>> = { google: 'Google', github: 'GitHub' }

/** `state` returns through the browser, `nonce` in the token that the provider signs. */
export type FlowSecrets = { state: string; nonce: string; verifier: string }

export type ProvenSubject = { subject: string; email: string | null; emailVerified: boolean; displayName: string | null }

/**
 * `prompt`: what the provider asks a person who is already signed in there. Even for a new sign-in, Google and GitHub document no
 * stronger prompt than the choice of an account.
 */
type AuthorizationOptions = { redirectUri: string; prompt: 'account' | 'sign_in' | null }
/** `signedInSince`: the earliest sign-in at the provider that counts. */
type AuthorizationResponse = { code: string; redirectUri: string; signedInSince: Date | null }

/** Both functions may use the network, so they must not run inside a transaction. */
export type IdentityProvider = {
  /** The issuer under which identities are stored. A sandbox issuer never equals a real one. */
  issuer: string
  authorizationUrl: (flow: FlowSecrets, request: AuthorizationOptions) => Promise<string>
  /** Throws `invalid_request` if the code or token does not belong to this flow, and `provider_error` if the provider fails. */
  redeem: (flow: FlowSecrets, answer: AuthorizationResponse) => Promise<ProvenSubject>
}

type Client = { clientId: string; clientSecret: string }

const authorizationUrlAt = (
  address: string,
  { clientId }: Client,
  { state, verifier }: FlowSecrets,
  { redirectUri, prompt }: AuthorizationOptions,
  extraParameters: Readonly<Record<string, string>>,
): string => {
  const url = new URL(address)
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri,
    ...(prompt && { prompt: 'select_account' }),
    ...extraParameters,
    state,
    code_challenge: sha256(verifier).toString('base64url'),
    code_challenge_method: 'S256',
    response_type: 'code',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

const tokenRequestOf = (
  { clientId, clientSecret }: Client,
  { verifier }: FlowSecrets,
  { code, redirectUri }: Omit<AuthorizationResponse, 'signedInSince'>,
) => ({
  client_id: clientId,
  client_secret: clientSecret,
  code,
  code_verifier: verifier,
  redirect_uri: redirectUri,
})

export type IdentityProviders = Readonly<Record<ProviderName, IdentityProvider | null>>

/** Omits the cause on purpose: causes are logged, and the libraries' messages contain codes and tokens. */
export const providerFailed = (name: ProviderName, what: string): Refusal =>
  new Refusal('provider_error', { message: `${providerTitles[name]} gave an answer that cannot be used: ${what}.` })

export const notOfThisFlow = (name: ProviderName, what: string): Refusal =>
  invalidAt('code', `${providerTitles[name]}'s answer does not belong to this sign-in: ${what}. Start again.`)

const longestEmail = 320

export const readEmail = (text: unknown): string | null =>
  typeof text === 'string' && text.length <= longestEmail && /^[^\s@\u0000-\u001f\u007f]+@[^\s@\u0000-\u001f\u007f]+$/u.test(text)
    ? text
    : null

/** Null for an unusable name, because a sign-in must not fail because of a name. */
export const readName = (text: unknown): string | null => (typeof text === 'string' ? cleanName(text) : null)

export const timeoutMs = 10_000

/** Rejects redirects, because following one would forward a token or secret. */
export const requestProvider = async (
  name: ProviderName,
  url: string,
  init: RequestInit = {},
): Promise<{ status: number; body: unknown }> => {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
    return { status: response.status, body: await response.json().catch(() => undefined) }
  } catch {
    throw providerFailed(name, 'it cannot be reached')
  }
}

export const requestJson = async <Schema extends z.ZodType>(
  name: ProviderName,
  schema: Schema,
  url: string,
  init: RequestInit = {},
): Promise<z.output<Schema>> => {
  const { status, body } = await requestProvider(name, url, init)
  if (status !== 200) throw providerFailed(name, `HTTP ${status}`)
  const read = schema.safeParse(body)
  if (!read.success) throw providerFailed(name, 'its answer cannot be read')
  return read.data
}

const Endpoints = z.object({ authorization_endpoint: z.url(), token_endpoint: z.url(), jwks_uri: z.url() })
type Endpoints = z.output<typeof Endpoints>
const Discovery = Endpoints.extend({ issuer: z.string() })

export type GoogleOptions = Client & {
  issuer: string
  tokenIssuers: readonly string[]
  endpoints: () => Promise<Endpoints>
  /** Whether it can ask for a new sign-in, and then must name its time (OpenID Connect Core, 3.1.2.1). Google promises neither. */
  reauthenticates: boolean
}

const googleIssuer = 'https://accounts.google.com'
const googleEndpoints: Endpoints = {
  authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
  token_endpoint: 'https://oauth2.googleapis.com/token',
  jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
}

/** A substitute for Google may add a final slash to its issuer. */
const issuerForms = (issuer: string): string[] => [issuer, `${issuer}/`]

/** Endpoints of a substitute for Google, read at the first use and then cached. */
const discover = (issuer: string): (() => Promise<Endpoints>) => {
  let known: Endpoints | undefined
  return async () => {
    if (known) return known
    const document = await requestJson('google', Discovery, `${issuer}/.well-known/openid-configuration`)
    if (!issuerForms(issuer).includes(document.issuer))
      throw providerFailed('google', 'its discovery document names another issuer')
    known = document
    return known
  }
}

/** Google itself, whose ID tokens contain the issuer with or without the scheme, or a substitute for Google. */
export const googleAt = (issuer = googleIssuer): Omit<GoogleOptions, keyof Client> =>
  issuer === googleIssuer
    ? { issuer, tokenIssuers: [issuer, 'accounts.google.com'], endpoints: async () => googleEndpoints, reauthenticates: false }
    : { issuer, tokenIssuers: issuerForms(issuer), endpoints: discover(issuer), reauthenticates: true }

const Claims = z.object({
  sub: z.string().min(1).max(255),
  nonce: z.string(),
  email: z.unknown().optional(),
  email_verified: z.unknown().optional(),
  name: z.unknown().optional(),
  auth_time: z.unknown().optional(),
})

const Tokens = z.object({ id_token: z.string().min(1) })

const cacheSeconds = 3600
/** Allowed difference between Google's clock and ours. */
const toleranceSeconds = 300
const maxAgeSeconds = 86_400
/** Shorter where a new sign-in is required, because a sign-in shortly before it must not count. */
const signInToleranceSeconds = 60

const isRecentSignIn = (authTime: unknown, since: Date): boolean =>
  typeof authTime === 'number' && authTime >= since.getTime() / 1000 - signInToleranceSeconds

/** The library is loaded at the first sign-in, because many processes never handle one. */
const jose = () => import('jose')

/** An unknown key id triggers an immediate reload of the key set, because keys rotate. */
const keySetAt = async (url: string) => {
  const { createRemoteJWKSet } = await jose()
  return createRemoteJWKSet(new URL(url), { timeoutDuration: timeoutMs, cacheMaxAge: cacheSeconds * 1000, cooldownDuration: 0 })
}

export const createGoogle = (options: GoogleOptions): IdentityProvider => {
  const { clientId, issuer, tokenIssuers, endpoints, reauthenticates } = options
  let keys: ReturnType<typeof keySetAt> | undefined

  const exchange = async (flow: FlowSecrets, given: AuthorizationResponse): Promise<string> => {
    const body = new URLSearchParams({ ...tokenRequestOf(options, flow, given), grant_type: 'authorization_code' })
    const answer = await requestProvider('google', (await endpoints()).token_endpoint, { method: 'POST', body })
    if (answer.status === 400) throw notOfThisFlow('google', 'the code is not accepted')
    if (answer.status !== 200) throw providerFailed('google', `HTTP ${answer.status}`)
    const tokens = Tokens.safeParse(answer.body)
    if (!tokens.success) throw providerFailed('google', 'there is no ID token')
    return tokens.data.id_token
  }

  /** The library checks the signature, issuer, audience and times. The nonce binds the token to the flow in this browser. */
  const verify = async (idToken: string, nonce: string, signedInSince: Date | null): Promise<ProvenSubject> => {
    const { errors, jwtVerify } = await jose()
    keys ??= keySetAt((await endpoints()).jwks_uri)
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
    const { sub, email, email_verified, name, auth_time } = claims.data
    if (!equalBytes(sha256(claims.data.nonce), sha256(nonce))) throw notOfThisFlow('google', 'the ID token is of another flow')
    if (signedInSince && (reauthenticates || auth_time !== undefined) && !isRecentSignIn(auth_time, signedInSince))
      throw notOfThisFlow('google', 'the person did not sign in there again (sign out there first)')
    return { subject: sub, email: readEmail(email), emailVerified: email_verified === true, displayName: readName(name) }
  }

  return {
    issuer,
    authorizationUrl: async (flow, request) =>
      authorizationUrlAt((await endpoints()).authorization_endpoint, options, flow, request, {
        scope: 'openid email profile',
        nonce: flow.nonce,
        ...(request.prompt === 'sign_in' && { max_age: '0', ...(reauthenticates && { prompt: 'login' }) }),
      }),
    redeem: async (flow, answer) => verify(await exchange(flow, answer), flow.nonce, answer.signedInSince),
  }
}

export type GithubOptions = Client & { issuer: string; authorizeUrl: string; tokenUrl: string; apiUrl: string }

const githubUrl = 'https://github.com'

export const githubAt = (url = githubUrl): Omit<GithubOptions, keyof Client> => ({
  issuer: url,
  authorizeUrl: `${url}/login/oauth/authorize`,
  tokenUrl: `${url}/login/oauth/access_token`,
  // GitHub Enterprise Server serves its API under its own host.
  apiUrl: url === githubUrl ? 'https://api.github.com' : `${url}/api/v3`,
})

const Token = z.union([z.object({ access_token: z.string().min(1) }), z.object({ error: z.string() })])
const User = z.object({ id: z.number().int().positive(), login: z.string(), name: z.unknown().optional() })
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

/** GitHub's error codes for a code that is unknown, used, expired or issued for another verifier. */
const badCodes = ['bad_verification_code', 'incorrect_code_verifier', 'invalid_grant']

export const createGithub = (options: GithubOptions): IdentityProvider => {
  const exchange = async (flow: FlowSecrets, given: AuthorizationResponse): Promise<string> => {
    const body = new URLSearchParams(tokenRequestOf(options, flow, given))
    const init = { method: 'POST', headers: { accept: 'application/json', 'user-agent': 'payments-service' }, body }
    // GitHub rejects a code with status 200 and an error in the body.
    const answer = await requestJson('github', Token, options.tokenUrl, init)
    if ('access_token' in answer) return answer.access_token
    if (badCodes.includes(answer.error)) throw notOfThisFlow('github', 'the code is not accepted')
    throw providerFailed('github', 'it refuses this service')
  }

  /** The primary e-mail address, if GitHub has verified it. Undefined if the token cannot read it. */
  const primaryEmail = async (headers: Record<string, string>) => {
    const { status, body } = await requestProvider('github', `${options.apiUrl}/user/emails`, { headers })
    if (status === 403 || status === 404) return undefined
    const emails = Emails.safeParse(body)
    if (status !== 200 || !emails.success) throw providerFailed('github', 'its list of e-mails cannot be read')
    return emails.data.find((email) => email.primary)
  }

  return {
    issuer: options.issuer,
    authorizationUrl: async (flow, request) =>
      authorizationUrlAt(options.authorizeUrl, options, flow, request, { scope: 'read:user user:email' }),
    redeem: async (flow, answer) => {
      const headers = {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${await exchange(flow, answer)}`,
        'user-agent': 'payments-service',
        'x-github-api-version': '2022-11-28',
      }
      const user = await requestJson('github', User, `${options.apiUrl}/user`, { headers })
      const primary = await primaryEmail(headers)
      const email = readEmail(primary?.email)
      return {
        subject: String(user.id),
        email,
        emailVerified: email !== null && primary?.verified === true,
        displayName: readName(user.name) ?? readName(user.login),
      }
    },
  }
}
