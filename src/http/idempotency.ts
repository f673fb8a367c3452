import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Principal } from '../auth/principal.ts'
import { sha256 } from '../auth/secrets.ts'
import { lockAccounts } from '../db/account-lock.ts'
import { type Database, type Db, inTx, statement, type Tx } from '../db/client.ts'
import { bytesList, plainList, textList } from '../db/lists.ts'
import { canonicalJson } from '../lib/canonical.ts'
import { conflict, invalidFields, Refusal } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import { authorize } from './authorize.ts'

/** The response of a write. `secret`: top-level fields that are shown once and never stored. */
export type Answer = { status: number; body: unknown; secret?: readonly string[] }

export const ok = (body: unknown): Answer => ({ status: 200, body })
export const created = (body: unknown, secret?: readonly string[]): Answer => ({ status: 201, body, ...(secret && { secret }) })

type Stored = { scope: Buffer; body_hash: Buffer; status: number; response: string }

const read = statement(
  'idempotency.read',
  `select scope, body_hash, status, coalesce(response, (select snapshot::text from payments where payments.id = payment_id)) as response
   from idempotency_keys where scope = any($1::bytea[])`,
)
const store = statement(
  'idempotency.store',
  `insert into idempotency_keys (scope, body_hash, status, response, payment_id, created_at)
   select scope, body, status, response, payment, $6 from rows from (unnest($1::bytea[]), unnest($2::bytea[]), unnest($3::int[]),
     unnest($4::text[]), unnest($5::uuid[])) as kept(scope, body, status, response, payment)`,
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

/** A request's key, its scope, and a digest of the body that it was first used with. */
export type Once = { key: string; scope: Buffer; bodyHash: Buffer }
/** A response in the form that is sent. */
export type Sent = { status: number; text: string; replayed: boolean }

export const onceOf = (request: FastifyRequest): Once | null => {
  const key = keyOf(request)
  return key === undefined ? null : { key, scope: scopeOf(request, key), bodyHash: hashBody(request) }
}

export type Answers = { find: (once: Once) => Sent | undefined }

/** The stored responses of these keys. The caller has locked their scopes' accounts, so no other request uses one of them now. */
export const readAnswers = async (db: Db, all: readonly Once[]): Promise<Answers> => {
  const rows = all.length === 0 ? [] : await db.query<Stored>(read, [bytesList(all.map(({ scope }) => scope))])
  const byScope = new Map(rows.map((row) => [row.scope.toString('hex'), row]))
  return {
    find: ({ scope, bodyHash }) => {
      const stored = byScope.get(scope.toString('hex'))
      if (!stored) return undefined
      if (!stored.body_hash.equals(bodyHash)) throw usedOtherwise()
      return { status: stored.status, text: stored.response, replayed: true }
    },
  }
}

export const usedOtherwise = (): Refusal => conflict('This Idempotency-Key was used with another request.', 'idempotency')

/** A response to store: its text, or the payment that was created, whose snapshot it is. */
export type StoredAnswer = { once: Once; status: number } & ({ text: string } | { paymentId: Uuid })

/** Stores responses in the transaction of their effects. */
export const keepAnswers = async (tx: Tx, answers: readonly StoredAnswer[]): Promise<void> => {
  if (answers.length === 0) return
  await tx.query(store, [
    bytesList(answers.map(({ once }) => once.scope)),
    bytesList(answers.map(({ once }) => once.bodyHash)),
    plainList(answers.map(({ status }) => status)),
    textList(answers.map((one) => ('text' in one ? one.text : null))),
    plainList(answers.map((one) => ('paymentId' in one ? one.paymentId : null))),
    tx.at,
  ])
}

/** The session changed to another workspace while its request waited. A request for one workspace is never done in another. */
class WorkspaceChanged extends Refusal {
  constructor() {
    super('unavailable', { message: 'The workspace of this session has just changed.', headers: { 'retry-after': '1' } })
  }
}

/** Work that was begun continues only for the same workspace, and only while the caller may still do it. */
export const recheckCaller = (request: FastifyRequest, current: Principal): void => {
  const before = request.principal
  request.caller = current
  if (current.workspace.id !== before.workspace.id) throw new WorkspaceChanged()
  authorize(request, current)
}

/**
 * Checks the caller again inside a transaction that holds its locks, as the request itself would be checked now: after an acknowledged
 * freeze or revocation nothing passes.
 */
export const reauthenticateCaller = async (tx: Tx, request: FastifyRequest): Promise<Principal> => {
  const current = await request.reauthenticate(tx)
  recheckCaller(request, current)
  return current
}

const enter = async (tx: Tx, request: FastifyRequest, others: readonly Uuid[]): Promise<void> => {
  const { caller } = request
  if (!caller) return
  const exclusive = [caller.accountId, caller.workspace.owningAccountId, ...others]
  await Promise.all([lockAccounts(tx, { exclusive }), reauthenticateCaller(tx, request)])
}

export const sendOnce = (reply: FastifyReply, { status, text, replayed }: Sent): FastifyReply => {
  reply.code(status)
  if (replayed) reply.header('idempotency-replayed', 'true')
  return text === '' ? reply.send() : reply.type('application/json; charset=utf-8').send(text)
}

/**
 * Runs a write: effect, event, audit, idempotency key and stored response in ONE transaction, under the locks of the caller's account and
 * of the account that owns its workspace. A second request with the key waits at these locks and then gets the stored response.
 * `concerned`: other accounts that the write changes (of a member that is removed), locked in one order with these. A refusal that `work`
 * throws undoes everything; one that commits (`CommitThenThrow`) keeps its audit rows, but stores no response.
 */
export const respondOnce = async (
  deps: { db: Database },
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Tx) => Promise<Answer>,
  concerned: () => Promise<readonly Uuid[]> = async () => [],
): Promise<FastifyReply> => {
  const others = await concerned()
  const attempt = async (tx: Tx): Promise<Sent> => {
    const once = onceOf(request)
    const [, answers] = await Promise.all([enter(tx, request, others), once && readAnswers(tx, [once])])
    const replayed = once && answers?.find(once)
    if (replayed) return replayed
    const answer = await work(tx)
    const text = answer.body === undefined ? '' : String(reply.code(answer.status).serialize(answer.body))
    const { status, secret } = answer
    if (once) tx.defer(keepAnswers(tx, [{ once, status, text: withoutSecrets(text, secret) }]))
    return { status, text, replayed: false }
  }
  return sendOnce(reply, await inTx(deps.db, attempt))
}
