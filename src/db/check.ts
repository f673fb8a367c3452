import type { Uuid } from '../lib/ids.ts'
import type { Db } from './client.ts'

/** What a check may need besides the data. */
export type CheckFacts = {
  now: Date
  eventRetentionDays: number
  /** The keys that sealed values can be opened with. */
  encryptionKeyIds: readonly string[]
  /** The secrets that fingerprints can be made with. */
  tokenSecretIds: readonly string[]
  /** A sealed value; undefined where its key is not configured, or the row is not the one that it was sealed for. */
  open: (sealed: { ciphertext: Buffer; keyId: string }, context: readonly string[]) => string | undefined
  /** A payee's fingerprint, under each secret that is configured. */
  fingerprints: (text: string) => readonly Buffer[]
  /** What a provider knows an order by, and the id of one send of it. */
  orderOf: (seed: readonly string[], generation: number) => { orderId: Uuid; reference: string }
  attemptOf: (order: { orderId: Uuid }, send: number) => Uuid
  /** The key of the audit log's seals; undefined for a secret that is not configured. */
  sealMac: (keyId: string, digest: string) => Buffer | undefined
  /**
   * Checks what was created and changed since this moment, and every account whose balance moved; null: everything. Older rows cannot have
   * changed through the service: it never rewrites a transfer, an event or an audit row.
   */
  since: Date | null
  /** A seal that was recorded outside the database, where a writer of the database cannot change it. */
  head?: { sequence: number; hash: Buffer }
}

/**
 * `sealedThrough`: every transaction that wrote in the period is a later one, so that rows of the period are found by the index on
 * `transaction`. It is the end of the last seal before the period: what a seal covers had ended when it was made.
 */
export type Period = CheckFacts & { sealedThrough: string }

/** A promise about the data, as a query for its breaches: the `subject` of each row is one breach. */
export type Check = {
  /** Numbered like the promises in docs/reliability.md: I1, I2, … */
  invariant: string
  promise: string
  find: (db: Db, facts: Period) => Promise<string[]>
}

/** For `>= $n::timestamptz`: the start of the period that a check reads. */
export const beginningOf = ({ since }: CheckFacts): string => since?.toISOString() ?? '-infinity'

/** Breaches of one promise that are named. */
export const most = 50

export const sqlCheck = (invariant: string, promise: string, text: string, values?: (facts: Period) => unknown[]): Check => ({
  invariant,
  promise,
  find: async (db, facts) => {
    const rows = await db.query<{ subject: string }>(
      `select subject from (${text}) as breach limit ${most}`,
      values?.(facts) ?? [],
    )
    return rows.map(({ subject }) => subject)
  },
})
