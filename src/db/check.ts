import { daysAfter } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Db } from './client.ts'

/** What a check may need besides the data. */
export type CheckFacts = {
  now: Date
  eventRetentionDays: number
  encryptionKeyIds: readonly string[]
  tokenSecretIds: readonly string[]
  /** A sealed value; undefined where its key is not configured, or the row is not the one that it was sealed for. */
  open: (sealed: { ciphertext: Buffer; keyId: string }, context: readonly string[]) => Buffer | undefined
  /** A payee's fingerprint, under each secret that is configured. */
  fingerprints: (text: string) => readonly Buffer[]
  /** What a provider knows an order by. */
  orderOf: (seed: readonly string[], generation: number) => { orderId: Uuid; reference: string }
  attemptOf: (order: { orderId: Uuid }, send: number) => Uuid
  /** The key of the audit log's seals; undefined for a secret that is not configured. */
  sealMac: (keyId: string, digest: string) => Buffer | undefined
  /** Checks what was created and changed since, and every account whose balance moved; null: everything. The service rewrites no older row. */
  since: Date | null
  /** A seal that was recorded outside of the database. */
  head?: { sequence: number; hash: Buffer }
}

/**
 * `sealedThrough`: the end of the last seal before the period. What a seal covers had ended when it was made, so rows of the period have later
 * transactions, and are found by the index on `transaction`.
 */
export type Period = CheckFacts & { sealedThrough: string } & Portions

/** A check that reads row after row begins behind the row `behind`, and says how far it came while it found nothing. */
export type Portions = { behind?: Uuid | undefined; onPortion?: (last: Uuid, rows: number) => Promise<void> }

/** A promise about the data, as a query for its breaches: the `subject` of each row is one breach. */
export type Check = {
  /** Numbered like the promises in docs/reliability.md: I1, I2, … */
  invariant: string
  promise: string
  find: (db: Db, facts: Period) => Promise<string[]>
}

/** What the query of a check may name, as `$since`. */
const places: Readonly<Record<string, { type: string; of: (facts: Period) => unknown }>> = {
  since: { type: 'timestamptz', of: ({ since }) => since?.toISOString() ?? '-infinity' },
  now: { type: 'timestamptz', of: ({ now }) => now },
  /** Older events may be deleted already. */
  retained: { type: 'timestamptz', of: ({ now, eventRetentionDays }) => daysAfter(now, -eventRetentionDays) },
  sealed_through: { type: 'xid8', of: ({ sealedThrough }) => sealedThrough },
  encryption_keys: { type: 'text[]', of: ({ encryptionKeyIds }) => encryptionKeyIds },
  token_secrets: { type: 'text[]', of: ({ tokenSecretIds }) => tokenSecretIds },
}

/** `first`: the values of the query's own `$1`, `$2`, …. */
export const rowsOf = <Row extends object>(db: Db, facts: Period, text: string, ...first: unknown[]): Promise<Row[]> => {
  const values = [...first]
  const numbered = text.replaceAll(/\$([a-z_]+)/g, (_, name: string) => {
    const place = places[name]
    if (!place) throw new Error(`a check names $${name}`)
    return `$${values.push(place.of(facts))}::${place.type}`
  })
  return db.query<Row>(numbered, values)
}

/** How many breaches of one promise are named. */
export const most = 50

export const sqlChecks = (queries: Readonly<Record<string, Readonly<Record<string, string>>>>): Check[] =>
  Object.entries(queries).flatMap(([invariant, promises]) =>
    Object.entries(promises).map(([promise, text]) => ({
      invariant,
      promise,
      find: async (db, facts) => {
        const rows = await rowsOf<{ subject: string }>(db, facts, `select subject from (${text}) as breach limit ${most}`)
        return rows.map(({ subject }) => subject)
      },
    })),
  )
