import { type IdKind, idPrefixes } from '../lib/ids.ts'
import type { Db } from './client.ts'

/** What a check may need to know besides the data. */
export type CheckFacts = {
  now: Date
  eventRetentionDays: number
  /** The keys that sealed values can be opened with. */
  encryptionKeyIds: readonly string[]
  /** The secrets that fingerprints can be made with. */
  tokenSecretIds: readonly string[]
  /** What a seal of the audit log is keyed with; undefined for a secret that is not configured. */
  sealMac: (keyId: string, digest: string) => Buffer | undefined
  /**
   * What was made and changed since then is looked at, and every account that moved; null: everything there is. Rows that time has passed
   * over cannot have changed by any path of the service: what moves money, what is published and the audit log are never written twice.
   */
  since: Date | null
  /** A seal that was written down outside the database, out of reach of those who can write to it. */
  head?: { sequence: number; hash: Buffer }
}

/** A promise about the data, as a query for what breaks it: the `subject` of every row is one breach. */
export type Check = {
  /** As reliability promises are numbered: I1, I2, … */
  invariant: string
  promise: string
  find: (db: Db, facts: CheckFacts) => Promise<string[]>
}

/** For `>= $n::timestamptz`: the beginning of what a check looks at. */
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

/** A UUID column as the TypeID that it is on the wire: 130 bits, five a digit. */
export const typeIdSql = (kind: IdKind, column: string): string =>
  `('${idPrefixes[kind]}_' || (select string_agg(substr('${digits}', substring(B'00' || ('x' || replace(${column}::text, '-', ''))::bit(128) from 5 * i + 1 for 5)::bit(5)::int + 1, 1), '' order by i) from generate_series(0, 25) as i))`
