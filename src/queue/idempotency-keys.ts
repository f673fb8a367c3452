import { sql } from 'drizzle-orm'
import type { Db, Tx } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { insertRows } from '../db/prepare-write.ts'
import { prepareRemoval, prune } from '../db/prune.ts'
import type { RecoveryPoint } from '../db/recovery-point.ts'
import { idempotencyKeys } from '../db/tables/events.ts'
import { conflict, type ErrorDetails, type Refusal, writesMayBeLost } from '../lib/errors.ts'
import { parseId, type Uuid } from '../lib/ids.ts'

/** The owning account and the workspace to which a key belongs. */
export type KeyScope = { accountId: Uuid; workspaceId: Uuid }

/** `bodyHash`: hash of the body at the key's first use. */
export type KeyUse = { key: string; scope: Buffer; bodyHash: Buffer; place: KeyScope }

export type UsedKey<Answer> = { once: Pick<KeyUse, 'scope' | 'bodyHash'>; answer: Answer }

export type Keys<Answer, Caller = unknown> = {
  /** Finds keys that were used before. The caller has locked the accounts of their scopes. */
  read: (db: Db, all: readonly KeyUse[]) => Promise<UsedKey<Answer>[]>
  /** The response to a repeated request. Default: the first response. */
  toReplay?: (answer: Answer) => Answer
  /** Stores used keys in the transaction of their effect. */
  keep: (tx: Tx, used: readonly UsedKey<Answer>[]) => Promise<void>
  /** Why this caller must not get the response. Undefined if it may. */
  refusal: (used: { answer: Answer; sameBody: boolean }, caller: Caller, at: Date) => Refusal | undefined
}

export type StoredAnswer = { status: number; text: string }

/** `secret`: top-level fields that are returned once and never stored. */
export type SingleAnswer = StoredAnswer & { secret?: readonly string[] }

const withoutSecrets = ({ status, text, secret }: SingleAnswer): StoredAnswer => {
  if (!secret) return { status, text }
  const value = JSON.parse(text) as Record<string, unknown>
  return { status, text: JSON.stringify(Object.fromEntries(Object.entries(value).filter(([name]) => !secret.includes(name)))) }
}

const find = prepare('idempotency.read', { scopes: 'bytea[]' }, 'pool', (orm, param) =>
  orm
    .select({
      scope: idempotencyKeys.scope,
      bodyHash: idempotencyKeys.bodyHash,
      status: idempotencyKeys.status,
      text: idempotencyKeys.response,
    })
    .from(idempotencyKeys)
    .where(sql`${idempotencyKeys.scope} = any(${param.scopes})`),
)

export const keyReused = (details?: ErrorDetails): Refusal =>
  conflict('This Idempotency-Key was used with another request.', 'idempotency', details)

/** The beneficiary that the first request with the key created. */
const createdBeneficiary = ({ text }: StoredAnswer): ErrorDetails | undefined => {
  const { id } = (text === '' ? {} : JSON.parse(text)) as { id?: unknown }
  return typeof id === 'string' && parseId('beneficiary', id) ? { existing_beneficiary_id: id } : undefined
}

/** Keys of requests that move no money. Their scope includes the caller, so only the first caller can repeat a key. */
export const answerKeys: Keys<SingleAnswer> = {
  read: async (db, all) => {
    const rows = all.length === 0 ? [] : await db.run(find, { scopes: all.map(({ scope }) => scope) })
    return rows.map(({ status, text, ...once }) => ({ once, answer: { status, text } }))
  },
  toReplay: withoutSecrets,
  keep: async (tx, used) => {
    const rows = used.map(({ once: { scope, bodyHash }, answer: { status, text: response } }) => {
      return { scope, bodyHash, status, response, createdAt: tx.at }
    })
    await insertRows(tx, idempotencyKeys, rows)
  },
  refusal: ({ sameBody, answer }) => (sameBody ? undefined : keyReused(createdBeneficiary(answer))),
}

/** The keys of one group: keys used before, and keys that the group itself uses. */
export const openKeys = <Answer, Caller>(
  keys: Keys<Answer, Caller>,
  before: readonly UsedKey<Answer>[],
  recoveryPoint: RecoveryPoint,
) => {
  const nameOf = ({ scope }: Pick<KeyUse, 'scope'>): string => scope.toString('hex')
  const known = new Map(before.map((used) => [nameOf(used.once), used]))
  const used: UsedKey<Answer>[] = []
  return {
    /** Returns a refusal if the key was first used for another request or by another caller. */
    find: (once: KeyUse | null, caller: Caller, at: Date): Answer | Refusal | undefined => {
      const first = once && known.get(nameOf(once))
      if (!once) return undefined
      // Running the request again could pay twice.
      if (!first) return recoveryPoint.has('key', nameOf(once)) ? writesMayBeLost('the request that used this key') : undefined
      const used = { answer: first.answer, sameBody: first.once.bodyHash.equals(once.bodyHash) }
      return keys.refusal(used, caller, at) ?? first.answer
    },
    use: (once: KeyUse | null, answer: Answer): void => {
      if (!once) return
      const first = { once, answer: keys.toReplay?.(answer) ?? answer }
      used.push(first)
      known.set(nameOf(once), first)
    },
    keep: async (tx: Tx): Promise<void> => {
      if (used.length === 0) return
      tx.afterCommit(() =>
        recoveryPoint.track(
          'key',
          used.map(({ once }) => nameOf(once)),
        ),
      )
      await keys.keep(tx, used)
    },
  }
}

export type OpenKeys<Answer, Caller> = ReturnType<typeof openKeys<Answer, Caller>>

const removal = prepareRemoval('idempotency.prune', idempotencyKeys.scope, idempotencyKeys.createdAt)

export const idempotencyRetentionDays = 1

export const pruneIdempotencyKeys = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
