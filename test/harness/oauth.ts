import { createHash, randomBytes } from 'node:crypto'
import { oauthScopes } from '../../src/modules/oauth/scopes.ts'
import type { Answer, CallOptions, Client, Json } from './client.ts'
import type { Person } from './people.ts'

/** Posts a form, as OAuth's endpoints require. A list repeats its name. */
export const postForm = (
  api: Client,
  path: string,
  fields: Record<string, string | string[] | undefined>,
  options: CallOptions = {},
): Promise<Answer> => {
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) for (const text of [value ?? []].flat()) body.append(name, text)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...options.headers }
  return api.call('POST', path, { ...options, raw: body.toString(), headers })
}

export const redirectUri = 'http://127.0.0.1:9876/callback'

export type OAuthClient = { id: string; secret: string | undefined; credentials: Record<string, string> }

/** A client that registered itself. Default: public. */
export const registerClient = async (api: Client, metadata: Record<string, unknown> = {}): Promise<OAuthClient> => {
  const answer = await api.post('/v1/oauth/register', {
    client_name: 'Test agent',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
    ...metadata,
  })
  if (answer.status !== 201) throw new Error(`no client was registered: ${answer.status} ${answer.text}`)
  const { client_id: id, client_secret: secret } = answer.body
  return { id, secret, credentials: { client_id: id, ...(secret !== undefined && { client_secret: secret }) } }
}

export type Pkce = { verifier: string; challenge: string }
export const newPkce = (): Pkce => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export type AccessOptions = Record<string, string | undefined>

export const authorizePath = (client: { id: string }, pkce: Pkce, options: AccessOptions = {}): string => {
  const parameters = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri,
    state: 'a state',
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    ...options,
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.append(name, value)
  return `/v1/oauth/authorize?${query}`
}

/** Opens the authorization endpoint in a signed-in browser; returns the id of the authorization request. */
export const requestConsent = async (
  person: { api: Client },
  client: { id: string },
  pkce: Pkce,
  options: AccessOptions = {},
): Promise<string> => {
  return authorizationIdOf(await person.api.get(authorizePath(client, pkce, options)))
}

/** The id of the authorization request in a redirect to our consent page. */
export const authorizationIdOf = (answer: Answer): string => {
  const id = new URL(answer.headers.get('location') ?? '', 'http://x').searchParams.get('authorization')
  if (answer.status !== 302 || id === null)
    throw new Error(`no consent was asked for: ${answer.status} ${answer.text.slice(0, 2000)} ${answer.headers.get('location')}`)
  return id
}

export const decide = (
  person: { api: Client },
  id: string,
  decision: Record<string, unknown> = { decision: 'approve' },
): Promise<Answer> => person.api.post(`/v1/oauth/authorizations/${id}/decision`, decision)

/** The query of the client's redirect. */
export const answerOf = (decided: Answer): URLSearchParams => {
  if (decided.status !== 200) throw new Error(`not decided: ${decided.status} ${decided.text}`)
  return new URL(decided.body.redirect_to).searchParams
}

export type ConsentOptions = { request?: AccessOptions; decision?: Record<string, unknown> }

/** The steps from the request to the code. */
export const obtainCode = async (person: { api: Client }, client: { id: string }, options: ConsentOptions = {}) => {
  const pkce = newPkce()
  const id = await requestConsent(person, client, pkce, options.request)
  const code = answerOf(await decide(person, id, { decision: 'approve', ...options.decision })).get('code')
  if (code === null) throw new Error('no code was given')
  return { code, pkce, id }
}

export const redeemCode = (
  api: Client,
  client: OAuthClient,
  code: string,
  pkce: Pkce,
  fields: Record<string, string | string[] | undefined> = {},
) =>
  postForm(api, '/v1/oauth/token', {
    grant_type: 'authorization_code',
    code,
    code_verifier: pkce.verifier,
    ...client.credentials,
    ...fields,
  })

export const refresh = (api: Client, client: OAuthClient, token: string, fields: Record<string, string | undefined> = {}) =>
  postForm(api, '/v1/oauth/token', { grant_type: 'refresh_token', refresh_token: token, ...client.credentials, ...fields })

/** An agent authorized by a person, by default for every scope. `api` uses its access token. */
export type Agent = {
  client: OAuthClient
  tokens: Json
  access: string
  refreshToken: string
  api: Client
  code: string
  pkce: Pkce
}

export const authorizeAgent = async (
  api: Client,
  person: Person,
  options: ConsentOptions & { client?: OAuthClient; redeem?: Record<string, string | string[] | undefined> } = {},
): Promise<Agent> => {
  const client = options.client ?? (await registerClient(api))
  // Without a scope the client would request reading only.
  const request = { scope: oauthScopes.join(' '), ...options.request }
  const { code, pkce } = await obtainCode(person, client, { ...options, request })
  const answer = await redeemCode(api, client, code, pkce, options.redeem)
  if (answer.status !== 200) throw new Error(`no tokens: ${answer.status} ${answer.text}`)
  const { access_token: access, refresh_token: refreshToken } = answer.body
  return { client, tokens: answer.body, access, refreshToken, api: api.as({ bearer: access, cookie: undefined }), code, pkce }
}

/** Status and code of an endpoint's error. */
export const refusal = (answer: Answer): [number, unknown] => [answer.status, answer.body?.error]
