import { createHash } from 'node:crypto'
import { canonicalJson } from '../lib/canonical.ts'

/** An audit row as it is sealed: its columns by name, times and ids as text. */
export type SealedRow = Readonly<Record<string, unknown>>

/** What the first seal is chained to. */
export const genesis: Buffer = Buffer.alloc(32)

/** What the hash of a seal is keyed for: a purpose of TOKEN_SECRETS' own. */
export const sealPurpose = 'audit.seal'

/**
 * SHA-256 over the digest before and the rows, a line of canonical JSON each: a change of a row changes every digest after it. Its
 * keyed hash cannot be made by an attacker who can only write the table; one seal with a good hash vouches for all before it, those that
 * were keyed with a secret that is retired meanwhile included.
 */
export const sealDigest = (previous: Uint8Array, rows: readonly SealedRow[]): Buffer => {
  const hash = createHash('sha256').update(previous)
  for (const row of rows) hash.update(canonicalJson(row)).update('\n')
  return hash.digest()
}
