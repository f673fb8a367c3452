import { daysAfter, secondsAfter } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Db } from './client.ts'

/** Facts that a check may need in addition to the data. */
export type CheckFacts = {
  now: Date
  eventRetentionDays: number
  paymentWaitMinutes: number
  encryptionKeyIds: readonly string[]
  tokenSecretIds: readonly string[]
  /** Decrypts a sealed value. Undefined if its key is not configured or if it was sealed for another row. */
  open: (sealed: { ciphertext: Buffer; keyId: string }, context: readonly string[]) => Buffer | undefined
  /** A payee's fingerprints, one for each configured secret. */
  fingerprints: (text: string) => readonly Buffer[]
  /** The ids that identify an order at its provider. */
  orderOf: (seed: readonly string[], generation: number) => { orderId: Uuid; reference: string }
  attemptOf: (order: { orderId: Uuid }, send: number) => Uuid
  /** The MAC that seals the audit log. Undefined if the secret is not configured. */
  sealMac: (keyId: string, digest: string) => Buffer | undefined
  /** Limits the checks to rows created or changed since then, and accounts whose balance moved. Null: checks everything. */
  since: Date | null
  /** A seal that was recorded outside the database. */
  head?: { sequence: number; hash: Buffer }
}

/**
 * Facts for one run, and the rows that it checks. `sealedThrough`: the end of the last seal before `since`. Sealed transactions
 * had ended, so rows added since have later transactions and are found by the index on `transaction`.
 */
export type CheckScope = CheckFacts & { sealedThrough: string } & Progress

/** `lastChecked`: the last row already checked. `onProgress`: called while no breach has been found. */
export type Progress = { lastChecked?: Uuid | undefined; onProgress?: (last: Uuid, rows: number) => Promise<void> }

/** A promise about the data, with a query for breaches: each returned `subject` is one breach. */
export type Check = {
  /** The invariant's number in docs/reliability.md: I1, I2, … */
  invariant: string
  /** The invariant, or one part of the invariant, as a sentence. */
  promise: string
  /** Set if the check is a single query, which runs in the database while this process is idle. */
  isQuery?: true
  find: (db: Db, facts: CheckScope) => Promise<string[]>
}

/** Values that a check's query can reference by name, such as `$since`. */
const boundValues: Readonly<Record<string, { type: string; of: (facts: CheckScope) => unknown }>> = {
  since: { type: 'timestamptz', of: ({ since }) => since?.toISOString() ?? '-infinity' },
  now: { type: 'timestamptz', of: ({ now }) => now },
  /** Events older than this may already be deleted. */
  retained: { type: 'timestamptz', of: ({ now, eventRetentionDays }) => daysAfter(now, -eventRetentionDays) },
  /** A payment in the queue fails once its rail has been down for the waiting time. It may have waited for other reasons before. */
  queued_since: {
    type: 'timestamptz',
    of: ({ now, paymentWaitMinutes }) => secondsAfter(now, -(2 * paymentWaitMinutes + 15) * 60),
  },
  sealed_through: { type: 'xid8', of: ({ sealedThrough }) => sealedThrough },
  encryption_keys: { type: 'text[]', of: ({ encryptionKeyIds }) => encryptionKeyIds },
  token_secrets: { type: 'text[]', of: ({ tokenSecretIds }) => tokenSecretIds },
}

/** `first`: values for the query's own `$1`, `$2`, …. */
export const rowsOf = <Row extends object>(db: Db, facts: CheckScope, text: string, ...first: unknown[]): Promise<Row[]> => {
  const values = [...first]
  const numbered = text.replaceAll(/\$([a-z_]+)/g, (_, name: string) => {
    const value = boundValues[name]
    if (!value) throw new Error(`a check names $${name}`)
    return `$${values.push(value.of(facts))}::${value.type}`
  })
  return db.query<Row>(numbered, values)
}

/** Maximum number of breaches reported per promise. */
export const maxBreaches = 50

export const sqlChecks = (queries: Readonly<Record<string, Readonly<Record<string, string>>>>): Check[] =>
  Object.entries(queries).flatMap(([invariant, promises]) =>
    Object.entries(promises).map(([promise, text]) => ({
      invariant,
      promise,
      isQuery: true,
      find: async (db, facts) => {
        const rows = await rowsOf<{ subject: string }>(db, facts, `select subject from (${text}) as breach limit ${maxBreaches}`)
        return rows.map(({ subject }) => subject)
      },
    })),
  )
