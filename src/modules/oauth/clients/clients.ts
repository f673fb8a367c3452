import { hash, verify } from '@node-rs/argon2'
import type { RequestOrigin } from '../../../auth/principal.ts'
import { newSecret } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import type { Database } from '../../../db/client.ts'
import { type Db, inTx, statement } from '../../../db/client.ts'
import { prepareInsert, prepareUpsert } from '../../../db/prepare-write.ts'
import { oauthClients } from '../../../db/tables/oauth.ts'
import { audit } from '../../../events/audit.ts'
import type { Clock } from '../../../lib/clock.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { formatId, newId, parseId, type Uuid } from '../../../lib/ids.ts'
import { createSlots, NoSlotError } from '../../../lib/slots.ts'
import type { Deps } from '../deps.ts'
import { OAuthError } from '../errors.ts'
import { documentUrl, readClientDocument } from './client-documents.ts'
import { readClientMetadata } from './client-metadata.ts'
import { clientColumns } from './read-client.ts'

type ClientsDeps = Pick<Deps, 'clientDocuments' | 'clock' | 'config' | 'db' | 'readClient'>

/** Argon2 is expensive by design, and it uses the threads that files and name lookups share. */
const hashSlots = createSlots({ size: 2, waiting: 64 })
const hashing = <Result>(work: () => Promise<Result>): Promise<Result> =>
  hashSlots(work).catch((error: unknown) => {
    throw error instanceof NoSlotError ? new OAuthError('temporarily_unavailable', undefined, { 'retry-after': '1' }) : error
  })

const checkSecret = (secretHash: string, secret: string): Promise<boolean> => hashing(() => verify(secretHash, secret))

const insertRow = prepareInsert('oauth_clients.insert', oauthClients)
/** What a metadata document says. */
const keepDocument = prepareUpsert('oauth_clients.keep_document', oauthClients, oauthClients.url, [
  'name',
  'redirectUris',
  'grantTypes',
  'authMethod',
  'scopes',
  'uri',
  'freshUntil',
])

export type ClientRecord = typeof oauthClients.$inferSelect

export const clientIdOf = (client: Pick<ClientRecord, 'id' | 'url'>): string => client.url ?? formatId('oauth_client', client.id)

/** Registers a client (RFC 7591): every caller may do this, so a registration proves nothing about the client. */
export const registerClient = async (
  db: Database,
  clock: Clock,
  origin: RequestOrigin,
  input: unknown,
): Promise<{ client: ClientRecord; secret: string | null }> => {
  const metadata = readClientMetadata(input, { authMethod: 'client_secret_basic' })
  const secret = metadata.authMethod === 'none' ? null : newSecret('client_secret')
  const secretHash = secret === null ? null : await hashing(() => hash(secret))
  const at = clock.now()
  const client = await inTx(db, async (tx) => {
    const row = { id: newId(), url: null, ...metadata, secretHash, createdAt: at, lastUsedAt: null, freshUntil: null }
    insertRow(tx, row)
    const after = { name: row.name, redirect_uris: row.redirectUris, token_endpoint_auth_method: row.authMethod }
    await audit(tx, { accountId: null, origin, way: 'oauth_client' }, at, {
      action: 'oauth_client.register',
      subject: { type: 'oauth_client', id: row.id },
      after,
    })
    return row
  })
  return { client, secret }
}

const unknownClient = () =>
  new OAuthError('invalid_client', 'There is no such client. Register it, or use the https address of its metadata document.')

const readById = statement('oauth_clients.by_id', `select ${clientColumns} from oauth_clients where id = $1`)
const readByUrl = statement('oauth_clients.by_url', `select ${clientColumns} from oauth_clients where url = $1`)

export const getClient = async (db: Db, id: Uuid): Promise<ClientRecord> => {
  const [client] = await db.query<ClientRecord>(readById, [id])
  if (!client) throw new Error('a client that must exist is missing')
  return client
}

const byUrl = async (db: Database, { href }: URL): Promise<ClientRecord | undefined> =>
  (await db.lookup<ClientRecord>(readByUrl, [href]))[0]

/** A client as it is stored: for endpoints that a client calls only after an authorization request. */
export const findClient = async (deps: Pick<Deps, 'config' | 'db' | 'readClient'>, clientId: string): Promise<ClientRecord> => {
  const id = parseId('oauth_client', clientId)
  const url = id ? undefined : documentUrl(deps.config, clientId)
  const client = id ? await deps.readClient(id) : url && (await byUrl(deps.db, url))
  if (!client) throw unknownClient()
  return client
}

/** A client that begins a flow: its metadata document is read when we have none, or an old one. */
export const requireClient = async (deps: ClientsDeps, clientId: string): Promise<ClientRecord> => {
  const url = documentUrl(deps.config, clientId)
  if (!url) return findClient(deps, clientId)
  const known = await byUrl(deps.db, url)
  const at = deps.clock.now()
  if (known?.freshUntil && known.freshUntil > at) return known
  const { metadata, freshUntil } = await readClientDocument(deps, url)
  return keepDocument(deps.db, { id: newId(), url: url.href, ...metadata, secretHash: null, createdAt: at, freshUntil })
}

export type ClientCredentials = {
  authorization?: string | undefined
  client_id?: string | undefined
  client_secret?: string | undefined
}

/** Whether the caller is a client by its name alone, if there is such a client without a secret. */
export const isPublicName = (
  config: Config,
  { authorization, client_id: id, client_secret: secret }: ClientCredentials,
): boolean => {
  if (authorization !== undefined || id === undefined || secret !== undefined) return false
  return parseId('oauth_client', id) !== undefined || documentUrl(config, id) !== undefined
}

const basicChallenge = { 'www-authenticate': 'Basic realm="oauth", charset="UTF-8"' }

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new OAuthError(
      'invalid_client',
      'The Authorization header must be "Basic" and the form-encoded client id and secret.',
      basicChallenge,
    )
  }
}

/** RFC 6749 section 2.3.1: both halves are form-encoded before they are joined. */
const fromBasic = (authorization: string): { clientId: string; secret: string } => {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization)?.[1] ?? ''
  const [, clientId = '', secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  return { clientId: decoded(clientId), secret: decoded(secret) }
}

const presented = ({
  authorization,
  client_id: id,
  client_secret: secret,
}: ClientCredentials): { clientId: string; secret: string | undefined } => {
  if (authorization === undefined) {
    if (id === undefined) throw new OAuthError('invalid_client', 'client_id is required.')
    return { clientId: id, secret }
  }
  const basic = fromBasic(authorization)
  if (secret !== undefined)
    throw new OAuthError(
      'invalid_request',
      'The client proves itself in one way: the Authorization header or client_secret, not both.',
    )
  if (id !== undefined && id !== basic.clientId)
    throw new OAuthError('invalid_request', 'client_id is not the client of the Authorization header.')
  return basic.secret === '' ? { clientId: basic.clientId, secret: undefined } : basic
}

/**
 * Identifies the caller of the endpoints that clients call directly. A confidential client may send its secret in either way; a public one
 * has no secret. `begins`: the client may be new to us, so its metadata document is read.
 */
export const authenticateClient = async (
  deps: ClientsDeps,
  credentials: ClientCredentials,
  options: { begins?: boolean } = {},
): Promise<ClientRecord> => {
  const { clientId, secret } = presented(credentials)
  const refused = (why: string) =>
    new OAuthError('invalid_client', why, credentials.authorization === undefined ? {} : basicChallenge)
  const client = await (options.begins ? requireClient(deps, clientId) : findClient(deps, clientId)).catch((error: unknown) => {
    throw error instanceof OAuthError && error.code === 'invalid_client' ? refused(error.message) : error
  })
  if (client.secretHash === null && secret !== undefined) throw refused('This client is public: it has no secret.')
  if (client.secretHash !== null && (secret === undefined || !(await checkSecret(client.secretHash, secret))))
    throw refused('The client secret is missing or wrong.')
  return client
}

const staleSeconds = 3600

/** A row that another transaction writes is passed over. */
const touch = statement(
  'oauth_clients.touch',
  'update oauth_clients set last_used_at = $2 where id = (select id from oauth_clients where id = $1 for update skip locked)',
)
/** An hour stale at most: it only shows which registrations are idle. Without a statement where the client, as it was read, is fresh. */
export const touchClient = async (
  db: Db,
  { id, lastUsedAt }: Pick<ClientRecord, 'id' | 'lastUsedAt'>,
  at: Date,
): Promise<void> => {
  if (lastUsedAt === null || lastUsedAt < secondsAfter(at, -staleSeconds)) await db.query(touch, [id, at])
}
