import type { FastifyReply, FastifyRequest } from 'fastify'
import { balanceAccountsOf, type Principal } from '../auth/principal.ts'
import { sha256 } from '../auth/secrets.ts'
import type { Database, Tx } from '../db/client.ts'
import { canonicalJson } from '../lib/canonical.ts'
import { balanceMoved, invalidFields, unavailable } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import { answerKeys, type KeyScope, type Keys, type KeyUse, type StoredAnswer } from '../queue/idempotency-keys.ts'
import { type RecordAnswer, recordScope } from '../queue/record-keys.ts'
import { createSerialRunner, type SerialRunner } from '../queue/serial-runner.ts'
import { type WriteRequest, writeOnce } from '../queue/write-path.ts'
import { checkAdmission, checkAuthority, checkEligibility } from './authorize.ts'

/** `secret`: top-level fields that are returned once and never stored. */
export type Answer = { status: number; body: unknown; secret?: readonly string[] }

export const ok = <Body>(body: Body) => ({ status: 200, body }) as const
export const accepted = <Body>(body: Body, secret?: readonly string[]) =>
  ({ status: 202, body, ...(secret && { secret }) }) as const
export const created = <Body>(body: Body, secret?: readonly string[]) =>
  ({ status: 201, body, ...(secret && { secret }) }) as const

const keyPattern = /^[\x20-\x7e]{1,255}$/

const keyOf = (request: FastifyRequest): string | undefined => {
  const header = request.headers['idempotency-key']
  if (header === undefined || !request.routeOptions.config.idempotent || !request.caller) return undefined
  if (typeof header === 'string' && keyPattern.test(header)) return header
  throw invalidFields({ path: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' })
}

/** Decoded, as the router reads it: `/v1/%70ayments` is `/v1/payments`. */
const pathOf = ({ url }: FastifyRequest): string => decodeURIComponent(new URL(url, 'http://path').pathname)

/** No body and an empty object are the same request, because some clients always send an object. */
const hashBody = ({ rawBody }: FastifyRequest): Buffer => {
  const body = rawBody ? canonicalJson(JSON.parse(rawBody)) : ''
  return sha256(body === '{}' ? '' : body)
}

const keyScopeOf = ({ principal: { workspace } }: FastifyRequest): KeyScope => ({
  accountId: workspace.owningAccountId,
  workspaceId: workspace.id,
})

type ScopeOf = (request: FastifyRequest, key: string) => Buffer

const scopeOf: ScopeOf = (request, key) => {
  const { accountId, grant, workspace } = request.principal
  return sha256(JSON.stringify([accountId, grant?.id ?? null, workspace.id, request.method, pathOf(request), key]))
}

/** The idempotency key of a request that moves money applies across all credentials. */
const scopeOfRecord: ScopeOf = (request, key) => recordScope(pathOf(request), keyScopeOf(request), key)

const onceOf = (request: FastifyRequest, scope: ScopeOf): KeyUse | null => {
  const key = keyOf(request)
  return key === undefined ? null : { key, scope: scope(request, key), bodyHash: hashBody(request), place: keyScopeOf(request) }
}

/** Running work continues only while the caller still has the authority for it. */
export const recheckCaller = (request: FastifyRequest, current: Principal): void => {
  recheckAuthority(request, current)
  checkEligibility(request, current)
}

const recheckAuthority = (request: FastifyRequest, current: Principal): void => {
  const before = request.principal
  request.caller = current
  // A session may switch workspaces while its request waits, but a request for one workspace must never run in another.
  if (current.workspace.id !== before.workspace.id)
    throw unavailable({ message: 'The workspace of this session has just changed.' })
  if (current.workspace.balanceAccountId !== before.workspace.balanceAccountId) throw balanceMoved()
  checkAuthority(request, current)
}

/** Checks the caller again under the locks, so that no new request passes after an acknowledged revocation or freeze. */
const checksUnderLocks = (request: FastifyRequest): Pick<WriteRequest<Principal>, 'reauthenticate' | 'admit'> => ({
  reauthenticate: async (tx) => {
    const current = await request.reauthenticate(tx)
    recheckAuthority(request, current)
    return current
  },
  admit: (current, at) => checkAdmission(request, current, at),
})

export const recordRequestOf = (request: FastifyRequest): Omit<WriteRequest<Principal>, 'locks'> => ({
  once: onceOf(request, scopeOfRecord),
  ...checksUnderLocks(request),
})

/** `replayed`: the response is from an earlier request with the same key. */
export const sendText = (reply: FastifyReply, { status, text }: StoredAnswer, replayed: boolean): FastifyReply => {
  reply.code(status)
  if (replayed) reply.header('idempotency-replayed', 'true')
  return text === '' ? reply.send() : reply.type('application/json; charset=utf-8').send(text)
}

/** Runs the writes of an account one after another, instead of in transactions that wait for the account's lock. */
const turnsOf = new WeakMap<Database, SerialRunner>()
const inTurn = <Result>(db: Database, account: Uuid, work: () => Promise<Result>): Promise<Result> => {
  const turns = turnsOf.get(db) ?? createSerialRunner()
  turnsOf.set(db, turns)
  return turns(account, work)
}

/**
 * Runs the write of one record (`src/queue/write-path.ts`), locking the caller's account and the accounts that hold the
 * workspace's money. `otherAccounts`: accounts that the write changes, locked in the same order. A second request with the same
 * key waits for these locks and then gets the stored response. A refusal rolls back everything. A `CommitThenThrow` keeps its
 * audit rows but stores no response.
 */
export const respondOnce = async (
  { db }: { db: Database },
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Tx) => Promise<Answer>,
  otherAccounts?: () => Promise<readonly Uuid[]>,
): Promise<FastifyReply> => {
  const { caller } = request
  const others = (await otherAccounts?.()) ?? []
  const underLocks = checksUnderLocks(request)
  const write = {
    locks: { exclusive: caller ? [caller.accountId, ...balanceAccountsOf(caller.workspace), ...others] : [] },
    once: onceOf(request, scopeOf),
    reauthenticate: async (tx: Tx) => (caller ? underLocks.reauthenticate(tx) : null),
    admit: (current: Principal | null, at: Date) => current && underLocks.admit?.(current, at),
    work: async (tx: Tx) => {
      const { status, body, secret } = await work(tx)
      const text = body === undefined ? '' : String(reply.code(status).serialize(body))
      return { status, text, ...(secret && { secret }) }
    },
  }
  const { answer, replayed } = await (caller
    ? inTurn(db, caller.workspace.balanceAccountId, () => writeOnce(db, answerKeys, write))
    : writeOnce(db, answerKeys, write))
  return sendText(reply, answer, replayed)
}

/** Like `respondOnce`, for a record that moves money and stores the key and the response in its own row. */
export const respondWithRecord = async (
  { db }: { db: Database },
  request: FastifyRequest,
  reply: FastifyReply,
  keys: Keys<RecordAnswer, Principal>,
  work: (tx: Tx, once: KeyUse | null) => Promise<RecordAnswer>,
): Promise<FastifyReply> => {
  const { accountId, workspace } = request.principal
  const write = recordRequestOf(request)
  const { answer, replayed } = await inTurn(db, workspace.balanceAccountId, () =>
    writeOnce(db, keys, {
      ...write,
      locks: { exclusive: [accountId, workspace.balanceAccountId] },
      work: (tx) => work(tx, write.once),
    }),
  )
  return sendText(reply, { status: 201, text: answer.text }, replayed)
}
