import { daysAfter } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Db } from './client.ts'

/** Facts that a check may need besides the data. */
export type CheckFacts = {
  now: Date
  eventRetentionDays: number
  encryptionKeyIds: readonly string[]
  tokenSecretIds: readonly string[]
  /** Opens a sealed value. Undefined if its key is not configured, or if it was sealed for another row. */
  open: (sealed: { ciphertext: Buffer; keyId: string }, context: readonly string[]) => Buffer | undefined
  /** A payee's fingerprint, under each secret that is configured. */
  fingerprints: (text: string) => readonly Buffer[]
  /** The ids by which a provider knows an order. */
  orderOf: (seed: readonly string[], generation: number) => { orderId: Uuid; reference: string }
  attemptOf: (order: { orderId: Uuid }, send: number) => Uuid
  /** The key of the audit log's seals; undefined for a secret that is not configured. */
  sealMac: (keyId: string, digest: string) => Buffer | undefined
  /** Checks rows created or changed since, and accounts whose balance moved; older rows never change. Null: everything. */
  since: Date | null
  /** A seal that was recorded outside of the database. */
  head?: { sequence: number; hash: Buffer }
}

/**
 * The facts for one run and the rows that it covers. `sealedThrough`: the end of the last seal before `since`. Sealed transactions
 * had ended, so rows since then have later transactions, and the index on `transaction` finds them.
 */
export type CheckScope = CheckFacts & { sealedThrough: string } & Progress

/** `lastChecked`: the last row already checked. `onProgress`: reports progress while no breach is found. */
export type Progress = { lastChecked?: Uuid | undefined; onProgress?: (last: Uuid, rows: number) => Promise<void> }

/** A promise about the data, as a query for its breaches: the `subject` of each row is one breach. */
export type Check = {
  /** The invariant's number in docs/reliability.md: I1, I2, … */
  invariant: string
  /** The invariant, or one part of it, as a sentence. */
  promise: string
  /** One query, so that the database works and this process is idle. */
  isQuery?: true
  find: (db: Db, facts: CheckScope) => Promise<string[]>
}

/** Values that the query of a check can name, such as `$since`. */
const boundValues: Readonly<Record<string, { type: string; of: (facts: CheckScope) => unknown }>> = {
  since: { type: 'timestamptz', of: ({ since }) => since?.toISOString() ?? '-infinity' },
  now: { type: 'timestamptz', of: ({ now }) => now },
  /** Older events may be deleted already. */
  retained: { type: 'timestamptz', of: ({ now, eventRetentionDays }) => daysAfter(now, -eventRetentionDays) },
  sealed_through: { type: 'xid8', of: ({ sealedThrough }) => sealedThrough },
  encryption_keys: { type: 'text[]', of: ({ encryptionKeyIds }) => encryptionKeyIds },
  token_secrets: { type: 'text[]', of: ({ tokenSecretIds }) => tokenSecretIds },
}

/** `first`: the values of the query's own `$1`, `$2`, …. */
export const rowsOf = <Row extends object>(db: Db, facts: CheckScope, text: string, ...first: unknown[]): Promise<Row[]> => {
  const values = [...first]
  const numbered = text.replaceAll(/\$([a-z_]+)/g, (_, name: string) => {
    const value = boundValues[name]
    if (!value) throw new Error(`a check names $${name}`)
    return `$${values.push(value.of(facts))}::${value.type}`
  })
  return db.query<Row>(numbered, values)
}

/** The maximum of breaches named per promise. */
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
