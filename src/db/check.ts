import { type IdKind, idPrefixes } from '../lib/ids.ts'
import type { Db } from './client.ts'

/** What a check may need besides the data. */
export type CheckFacts = {
  now: Date
  eventRetentionDays: number
  /** The keys that sealed values can be opened with. */
  encryptionKeyIds: readonly string[]
  /** The secrets that fingerprints can be made with. */
  tokenSecretIds: readonly string[]
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

/** A promise about the data, as a query for its breaches: the `subject` of each row is one breach. */
export type Check = {
  /** Numbered like the promises in docs/reliability.md: I1, I2, … */
  invariant: string
  promise: string
  find: (db: Db, facts: CheckFacts) => Promise<string[]>
}

/** For `>= $n::timestamptz`: the start of the period that a check reads. */
export const beginningOf = ({ since }: CheckFacts): string => since?.toISOString() ?? '-infinity'

const most = 50

export const sqlCheck = (invariant: string, promise: string, text: string, values?: (facts: CheckFacts) => unknown[]): Check => ({
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

const digits = '0123456789abcdefghjkmnpqrstvwxyz'

/** A UUID column as the TypeID that stands for it on the wire: 130 bits, five for each digit. */
export const typeIdSql = (kind: IdKind, column: string): string =>
  `('${idPrefixes[kind]}_' || (select string_agg(substr('${digits}', substring(B'00' || ('x' || replace(${column}::text, '-', ''))::bit(128) from 5 * i + 1 for 5)::bit(5)::int + 1, 1), '' order by i) from generate_series(0, 25) as i))`
