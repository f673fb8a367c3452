import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { equalBytes, sha256 } from '../../auth/secrets.ts'
import { keepDocument } from './store.ts'

export const pem = (key: KeyObject, type: 'spki' | 'pkcs8'): string => key.export({ type, format: 'pem' }).toString()

/** Whether two texts are equal, compared in constant time. */
export const sameText = (one: string, other: string): boolean => equalBytes(sha256(one), sha256(other))

const newSecret = (): string => randomBytes(18).toString('base64url')
export const newKey = (): string => pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, 'pkcs8')

const Stored = z.record(z.string(), z.string())
const keep = (folder?: string) => keepDocument(folder, 'credentials.json', Stored, {})

/** A provider's secret, by a name unique among providers. Made on first use, and kept. `make`: default a random text. */
export type SecretOf = (name: string, make?: () => string) => string

/** RSA keys take up to a second of processor time: sandboxes without a folder share theirs within a process. */
const shared = keep()

/** Needs no configuration. With a folder, secrets are kept for configured clients; a newer provider gets its own. */
export const keepSecrets = (folder?: string): SecretOf => {
  const kept = folder === undefined ? shared : keep(folder)
  return (name, make = newSecret) => {
    const known = kept.read()
    const secret = known[name] ?? make()
    if (known[name] === undefined) kept.write({ ...known, [name]: secret })
    return secret
  }
}
