import { randomBytes } from 'node:crypto'
import { and, eq, gt } from 'drizzle-orm'
import { sessionBehind } from '../../auth/credential.ts'
import type { Principal } from '../../auth/principal.ts'
import { sha256 } from '../../auth/secrets.ts'
import { type Database, first } from '../../db/client.ts'
import { prepareInsertAll, prepareWrite } from '../../db/prepare-write.ts'
import { oauthAuthorizations } from '../../db/tables/oauth.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import {
  decisionTtlSeconds,
  errorUrl,
  hasGrantFor,
  type RedirectTarget,
  readCodeRequest,
  readRedirectUri,
} from './authorization-request.ts'
import { type ClientRecord, requireClient } from './clients.ts'
import { OAuthError } from './errors.ts'
import type { CodeParameters } from './schema.ts'

type AuthorizeDeps = Pick<Parts, 'clock' | 'config' | 'db'>

const insertRow = prepareInsertAll('oauth_authorizations.insert', oauthAuthorizations)

const takeRow = prepareWrite(
  'oauth_authorizations.take_pushed',
  {
    requestUriHash: 'bytea',
    clientId: 'uuid',
    at: 'timestamptz',
    expiresAt: 'timestamptz',
    accountId: 'uuid|null',
    sessionId: 'uuid|null',
  },
  (orm, at) =>
    orm
      .update(oauthAuthorizations)
      .set({ status: 'pending', expiresAt: at.expiresAt, accountId: at.accountId, sessionId: at.sessionId })
      .where(
        and(
          eq(oauthAuthorizations.requestUriHash, at.requestUriHash),
          eq(oauthAuthorizations.clientId, at.clientId),
          eq(oauthAuthorizations.status, 'pushed'),
          gt(oauthAuthorizations.expiresAt, at.at),
        ),
      )
      .returning({ id: oauthAuthorizations.id }),
)

const requestUriPrefix = 'urn:ietf:params:oauth:request_uri:'
export const pushedTtlSeconds = 90

type AuthorizeParameters = CodeParameters & { client_id?: string | undefined; request_uri?: string | undefined }

type NewRequest = Omit<typeof oauthAuthorizations.$inferInsert, 'id' | 'clientId' | 'flow' | 'state' | 'createdAt' | 'expiresAt'>

const keepRequest = async (
  { clock, db }: AuthorizeDeps,
  client: ClientRecord,
  { state = null }: { state?: string | null | undefined },
  ttlSeconds: number,
  request: NewRequest,
): Promise<Uuid> => {
  const [id, at] = [newId(), clock.now()]
  const times = { createdAt: at, expiresAt: secondsAfter(at, ttlSeconds) }
  await insertRow(db.query, [{ id, clientId: client.id, flow: 'code', state, ...request, ...times }])
  return id
}

/** A pushed authorization request (RFC 9126): everything is checked now, and reported to the client instead of to a browser. */
export const pushRequest = async (deps: AuthorizeDeps, client: ClientRecord, parameters: CodeParameters): Promise<string> => {
  const redirectUri = readRedirectUri(client, parameters.redirect_uri)
  if (parameters.prompt?.split(' ').includes('none')) throw new OAuthError('consent_required')
  const request = readCodeRequest(client, parameters, deps.config.publicUrl)
  const reference = randomBytes(32).toString('base64url')
  const pushed = { status: 'pushed', ...request, redirectUri, requestUriHash: sha256(reference) } as const
  await keepRequest(deps, client, parameters, pushedTtlSeconds, pushed)
  return requestUriPrefix + reference
}

/** Starts a pushed request, once. */
const takePushed = async (
  deps: Pick<Parts, 'clock' | 'db'>,
  client: ClientRecord,
  principal: Principal | null,
  requestUri: string,
): Promise<Uuid> => {
  if (!requestUri.startsWith(requestUriPrefix)) throw new OAuthError('request_uri_not_supported')
  const at = deps.clock.now()
  const row = await first(deps.db, takeRow, {
    requestUriHash: sha256(requestUri.slice(requestUriPrefix.length)),
    clientId: client.id,
    at,
    expiresAt: secondsAfter(at, decisionTtlSeconds),
    ...(await bindingOf(deps.db, principal)),
  })
  if (!row) throw new OAuthError('invalid_request', 'The request_uri is unknown, used, expired, or of another client.')
  return row.id
}

/**
 * Only the person signed in where the request arrives may decide it. An agent's credential counts as signed out: it cannot decide anything.
 */
const bindingOf = async (
  db: Database,
  principal: Principal | null,
): Promise<{ accountId: Uuid | null; sessionId: Uuid | null }> =>
  principal && !principal.grant
    ? { accountId: principal.accountId, sessionId: await sessionBehind(db, principal.credential) }
    : { accountId: null, sessionId: null }

const begin = async (
  deps: AuthorizeDeps,
  client: ClientRecord,
  principal: Principal | null,
  parameters: CodeParameters,
  redirectUri: string,
): Promise<Uuid> => {
  const prompts = parameters.prompt?.split(' ') ?? []
  const request = readCodeRequest(client, parameters, deps.config.publicUrl)
  if (prompts.includes('none')) throw new OAuthError(principal ? 'consent_required' : 'login_required')
  const binding = await bindingOf(deps.db, principal)
  return keepRequest(deps, client, parameters, decisionTtlSeconds, { status: 'pending', ...request, redirectUri, ...binding })
}

const consentPath = (id: Uuid): string => `/consent?authorization=${formatId('oauth_authorization', id)}`

/**
 * Handles an authorization request; returns where the browser goes next. An error is reported to the client by a redirect only where the
 * person has given the client a grant before: otherwise we would redirect to any address that a stranger registered (an open redirector,
 * RFC 9700, 4.11.2). For everybody else a page of ours says what is wrong, and its link back carries the error.
 */
export const authorize = async (
  deps: Pick<Parts, 'clientDocuments' | 'clock' | 'config' | 'db'>,
  principal: Principal | null,
  parameters: AuthorizeParameters,
): Promise<string> => {
  if (parameters.client_id === undefined) throw new OAuthError('invalid_request', 'client_id is required.')
  const client = await requireClient(deps, parameters.client_id)
  const page = (id: Uuid) => {
    const consent = consentPath(id)
    return principal && !principal.grant ? consent : `/sign-in?return_to=${encodeURIComponent(consent)}`
  }
  if (parameters.request_uri !== undefined) return page(await takePushed(deps, client, principal, parameters.request_uri))
  const redirectUri = readRedirectUri(client, parameters.redirect_uri)
  try {
    return page(await begin(deps, client, principal, parameters, redirectUri))
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const answer: RedirectTarget = { redirectUri, state: parameters.state ?? null, issuer: deps.config.publicUrl }
    const back = errorUrl(answer, error)
    if (await hasGrantFor(deps.db, client, principal)) return back
    throw new OAuthError(error.code, error.message, error.headers, back)
  }
}
