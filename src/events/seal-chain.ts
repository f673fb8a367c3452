import { createHash } from 'node:crypto'
import { canonicalJson } from '../lib/canonical.ts'

/** An audit row in the form that is sealed: its columns by name, times and ids as text. */
export type SealedRow = Readonly<Record<string, unknown>>

/** The digest before the first seal. */
export const genesis: Buffer = Buffer.alloc(32)

/** The purpose of TOKEN_SECRETS with which a seal's hash is keyed. */
export const sealPurpose = 'audit.seal'

/**
 * SHA-256 over the digest before and the rows, one line of canonical JSON for each: a change of a row changes every digest after it. An
 * attacker who can only write the table cannot make the keyed hash. A seal with a valid hash proves all seals before it, even those whose
 * secret has been removed since.
 */
export const sealDigest = (previous: Uint8Array, rows: readonly SealedRow[]): Buffer => {
  const hash = createHash('sha256').update(previous)
  for (const row of rows) hash.update(canonicalJson(row)).update('\n')
  return hash.digest()
}
