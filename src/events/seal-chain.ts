import { createHash } from 'node:crypto'
import { canonicalJson } from '../lib/canonical.ts'

/** An audit row as it is sealed: its columns by name, times and ids as text. */
export type SealedRow = Readonly<Record<string, unknown>>

/** What the first seal is chained to. */
export const genesis: Buffer = Buffer.alloc(32)

/** SHA-256 over the hash before and the rows, a line of canonical JSON each: whoever changes a row changes every hash after it. */
export const sealHash = (previous: Uint8Array, rows: readonly SealedRow[]): Buffer => {
  const hash = createHash('sha256').update(previous)
  for (const row of rows) hash.update(canonicalJson(row)).update('\n')
  return hash.digest()
}
