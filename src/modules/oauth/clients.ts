import { hash, verify } from '@node-rs/argon2'
import type { RequestOrigin } from '../../auth/principal.ts'
import { newSecret } from '../../auth/secrets.ts'
import { type Db, inTx, statement } from '../../db/client.ts'
import { insertRow, upsertRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { oauthClients } from '../../db/tables/oauth.ts'
import { audit } from '../../events/audit.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { formatId, newId, parseId, type Uuid } from '../../lib/ids.ts'
import { createSlots } from '../../lib/slots.ts'
import type { Parts } from '../parts.ts'
import { documentUrl, readClientDocument, readClientMetadata } from './client-metadata.ts'
import { OAuthError } from './errors.ts'
import { formatScope } from './scopes.ts'

type ClientsDeps = Pick<Parts, 'clientDocuments' | 'clock' | 'config' | 'db'>

/** Argon2 is expensive by design and uses the threads that file access and name lookups share. */
const overloaded = () => new OAuthError('temporarily_unavailable', undefined, { 'retry-after': '1' })
const hashing = createSlots({ size: 2, waiting: 64, full: overloaded })

const documentColumns = ['name', 'redirectUris', 'grantTypes', 'authMethod', 'scopes', 'uri', 'freshUntil'] as const

export type ClientRecord = typeof oauthClients.$inferSelect

export const clientIdOf = (client: Pick<ClientRecord, 'id' | 'url'>): string => client.url ?? formatId('oauth_client', client.id)

/** RFC 7591. Any caller may register a client, so a registration proves nothing about it. */
export const registerClient = async ({ clock, db }: Pick<Parts, 'clock' | 'db'>, origin: RequestOrigin, input: unknown) => {
  const metadata = readClientMetadata(input, { authMethod: 'client_secret_basic' })
  const secret = metadata.authMethod === 'none' ? null : newSecret('client_secret')
  const secretHash = secret === null ? null : await hashing(() => hash(secret))
  const { name, redirectUris, grantTypes, authMethod, scopes, uri } = metadata
  const [id, createdAt] = [newId(), clock.now()]
  await inTx(db, async (tx) => {
    insertRow(tx, oauthClients, { id, url: null, ...metadata, secretHash, createdAt, lastUsedAt: null, freshUntil: null })
    const after = { name, redirect_uris: redirectUris, token_endpoint_auth_method: authMethod }
    audit(tx, { accountId: null, origin, way: 'oauth_client' }, 'oauth_client.register', { subject: id, after })
  })
  return {
    client_id: formatId('oauth_client', id),
    client_id_issued_at: Math.floor(createdAt.getTime() / 1000),
    // 0: the secret does not expire (RFC 7591 section 3.2.1).
    ...(secret !== null && { client_secret: secret, client_secret_expires_at: 0 }),
    client_name: name,
    ...(uri !== null && { client_uri: uri }),
    redirect_uris: redirectUris,
    grant_types: grantTypes,
    response_types: grantTypes.includes('authorization_code') ? ['code'] : [],
    token_endpoint_auth_method: authMethod,
    ...(scopes && { scope: formatScope(scopes) }),
  }
}

const byId = selectRow('oauth_clients.by_id', oauthClients, ['id'], { connection: 'coalesced' })
const byUrl = selectRow('oauth_clients.by_url', oauthClients, ['url'], { connection: 'coalesced' })

export const getClient = async (db: Db, id: Uuid): Promise<ClientRecord> => {
  const client = await byId(db, { id })
  if (!client) throw new Error('a client that must exist is missing')
  return client
}

/** For endpoints that a client calls only after an authorization request. */
export const findClient = async ({ config, db }: Pick<Parts, 'config' | 'db'>, clientId: string): Promise<ClientRecord> => {
  const id = parseId('oauth_client', clientId)
  const url = id ? undefined : documentUrl(config, clientId)
  const client = id ? await byId(db, { id }) : url && (await byUrl(db, { url: url.href }))
  if (!client)
    throw new OAuthError(
      'invalid_client',
      'There is no such client: it was never registered, or was removed because it was not used. In the application, remove this connection and add it again. A program registers itself, or uses the https address of its metadata document.',
    )
  return client
}

/** Fetches the client's metadata document if it is unknown or outdated. */
export const requireClient = async (deps: ClientsDeps, clientId: string): Promise<ClientRecord> => {
  const url = documentUrl(deps.config, clientId)
  if (!url) return findClient(deps, clientId)
  const known = await byUrl(deps.db, { url: url.href })
  const at = deps.clock.now()
  if (known?.freshUntil && known.freshUntil > at) return known
  const { metadata, freshUntil } = await readClientDocument(deps, url)
  const row = { id: newId(), url: url.href, ...metadata, secretHash: null, createdAt: at, freshUntil }
  return upsertRow(deps.db, oauthClients, row, { key: [oauthClients.url], replaced: documentColumns })
}

export type ClientCredentials = {
  authorization?: string | undefined
  client_id?: string | undefined
  client_secret?: string | undefined
}

const basicChallenge = { 'www-authenticate': 'Basic realm="oauth", charset="UTF-8"' }

const notBasic = (): OAuthError =>
  new OAuthError(
    'invalid_client',
    'The Authorization header must be "Basic" and the form-encoded client id and secret.',
    basicChallenge,
  )

const formDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw notBasic()
  }
}

/** RFC 6749 section 2.3.1: both halves are form-encoded before they are joined. */
const parseBasic = (authorization: string): { clientId: string; secret: string } => {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization)?.[1] ?? ''
  const [, clientId, secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  if (clientId === undefined) throw notBasic()
  return { clientId: formDecoded(clientId), secret: formDecoded(secret) }
}

const presentedCredentials = ({ authorization, client_id: id, client_secret: secret }: ClientCredentials) => {
  if (authorization === undefined) {
    if (id === undefined) throw new OAuthError('invalid_client', 'client_id is required.')
    return { clientId: id, secret }
  }
  const basic = parseBasic(authorization)
  if (secret !== undefined)
    throw new OAuthError(
      'invalid_request',
      'The client proves itself in one way: the Authorization header or client_secret, not both.',
    )
  if (id !== undefined && id !== basic.clientId)
    throw new OAuthError('invalid_request', 'client_id is not the client of the Authorization header.')
  return basic.secret === '' ? { clientId: basic.clientId, secret: undefined } : basic
}

/** A confidential client may send its secret in either way. `find`: `requireClient` if the client may be unknown to us. */
export const authenticateClient = async (
  deps: ClientsDeps,
  credentials: ClientCredentials,
  find: typeof requireClient = findClient,
): Promise<ClientRecord> => {
  const { clientId, secret } = presentedCredentials(credentials)
  const refused = (why: string) =>
    new OAuthError('invalid_client', why, credentials.authorization === undefined ? {} : basicChallenge)
  const client = await find(deps, clientId).catch((error: unknown) => {
    throw error instanceof OAuthError && error.code === 'invalid_client' ? refused(error.message) : error
  })
  if (client.secretHash === null && secret !== undefined) throw refused('This client is public: it has no secret.')
  const { secretHash } = client
  if (secretHash !== null && (secret === undefined || !(await hashing(() => verify(secretHash, secret)))))
    throw refused('The client secret is missing or wrong.')
  return client
}

const staleSeconds = 3600

const touch = statement('oauth_clients.touch')`
  update oauth_clients set last_used_at = $2 where id = (select id from oauth_clients where id = $1 for update skip locked)`
/** Updates the time at most once an hour, because it only shows which registrations are idle. */
export const touchClient = async (db: Db, { id, lastUsedAt }: Pick<ClientRecord, 'id' | 'lastUsedAt'>, at: Date) => {
  if (lastUsedAt === null || lastUsedAt < secondsAfter(at, -staleSeconds)) await db.query(touch, [id, at])
}
