import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../auth/secrets.ts'
import { lockAccounts } from '../db/account-lock.ts'
import { type Database, inTx, statement, type Tx } from '../db/client.ts'
import { canonicalJson } from '../lib/canonical.ts'
import { conflict, invalidFields } from '../lib/errors.ts'
import { authorize } from './authorize.ts'

/** What a write answers with. `secret`: top-level fields shown once only, and never stored. */
export type Answer = { status: number; body: unknown; secret?: readonly string[] }

export const ok = (body: unknown): Answer => ({ status: 200, body })
export const created = (body: unknown, secret?: readonly string[]): Answer => ({ status: 201, body, ...(secret && { secret }) })

type Stored = { body_hash: Buffer; status: number; response: string }

const read = statement('idempotency.read', 'select body_hash, status, response from idempotency_keys where scope = $1')
const store = statement(
  'idempotency.store',
  'insert into idempotency_keys (scope, body_hash, status, response, created_at) values ($1, $2, $3, $4, $5)',
)

const keyPattern = /^[\x20-\x7e]{1,255}$/

const keyOf = (request: FastifyRequest): string | undefined => {
  const header = request.headers['idempotency-key']
  if (header === undefined || !request.routeOptions.config.idempotent || !request.caller) return undefined
  if (typeof header === 'string' && keyPattern.test(header)) return header
  throw invalidFields({ path: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' })
}

const scopeOf = (request: FastifyRequest, key: string): Buffer => {
  const { accountId, grant, workspace } = request.principal
  const path = new URL(request.url, 'http://path').pathname
  return sha256(JSON.stringify([accountId, grant?.id ?? null, workspace.id, request.method, path, key]))
}

const hashBody = (request: FastifyRequest): Buffer => sha256(request.rawBody ? canonicalJson(JSON.parse(request.rawBody)) : '')

const withoutSecrets = (text: string, secret: readonly string[] | undefined): string => {
  if (!secret) return text
  const value = JSON.parse(text) as Record<string, unknown>
  return JSON.stringify(Object.fromEntries(Object.entries(value).filter(([name]) => !secret.includes(name))))
}

type Outcome = { status: number; text: string; replayed: boolean }

const replay = (stored: Stored, bodyHash: Buffer): Outcome => {
  if (!stored.body_hash.equals(bodyHash)) throw conflict('This Idempotency-Key was used with another request.', 'idempotency')
  return { status: stored.status, text: stored.response, replayed: true }
}

/** The credential chose another workspace while its request waited: the locks taken are not the ones needed. */
class Moved extends Error {}

/** Takes the caller's locks and looks at its standing under them: what was acknowledged as stopped before lets nothing through. */
const enter = async (tx: Tx, request: FastifyRequest): Promise<void> => {
  const { caller } = request
  if (!caller) return
  const exclusive = [caller.accountId, caller.workspace.owningAccountId]
  const [, standing] = await Promise.all([lockAccounts(tx, { exclusive }), request.reauthenticate(tx)])
  request.caller = standing
  if (standing.workspace.id !== caller.workspace.id) throw new Moved()
  authorize(request, standing)
}

/**
 * Runs a write: effect, event, audit, idempotency key and stored response in ONE transaction, under the locks of the caller's account
 * and of the account that owns its workspace. A second request with the key waits for the first at these locks and then replays it.
 * A refusal that `work` throws undoes everything; one that commits (`CommitThenThrow`) keeps its traces, but no key.
 */
export const respondOnce = async (
  deps: { db: Database },
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Tx) => Promise<Answer>,
): Promise<FastifyReply> => {
  const key = keyOf(request)
  const bodyHash = key === undefined ? undefined : hashBody(request)
  const once = async (tx: Tx): Promise<Outcome> => {
    const scope = key === undefined ? undefined : scopeOf(request, key)
    const [, stored] = await Promise.all([enter(tx, request), scope && tx.query<Stored>(read, [scope])])
    if (stored?.[0] && bodyHash) return replay(stored[0], bodyHash)
    const answer = await work(tx)
    const text = answer.body === undefined ? '' : String(reply.code(answer.status).serialize(answer.body))
    if (scope && bodyHash) tx.defer(tx.query(store, [scope, bodyHash, answer.status, withoutSecrets(text, answer.secret), tx.at]))
    return { status: answer.status, text, replayed: false }
  }
  const outcome = await inTx(deps.db, once).catch((error: unknown) => {
    if (error instanceof Moved) return inTx(deps.db, once)
    throw error
  })
  reply.code(outcome.status)
  if (outcome.replayed) reply.header('idempotency-replayed', 'true')
  return outcome.text === '' ? reply.send() : reply.type('application/json; charset=utf-8').send(outcome.text)
}
