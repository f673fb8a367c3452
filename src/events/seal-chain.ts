import { createHash } from 'node:crypto'

/** The digest before the first seal. */
export const genesis: Buffer = Buffer.alloc(32)

/** The purpose of TOKEN_SECRETS with which a seal's hash is keyed. */
export const sealPurpose = 'audit.seal'

/**
 * SHA-256 over the digest before and the rows, one line for each: a change of a row changes every digest after it. An
 * attacker who can only write the table cannot make the keyed hash. A seal with a valid hash proves all seals before it, even those whose
 * secret has been removed since.
 */
export const sealDigest = (previous: Uint8Array, lines: readonly string[]): Buffer => {
  const hash = createHash('sha256').update(previous)
  for (const line of lines) hash.update(line).update('\n')
  return hash.digest()
}
