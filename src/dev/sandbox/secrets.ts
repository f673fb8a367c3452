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

/** A provider's secret, with a name that is unique across providers. Created at first use. `make`: default is a random text. */
export type SecretOf = (name: string, make?: () => string) => string

/** RSA keys take up to a second to generate, so sandboxes without a folder share their keys within a process. */
const shared = keep()

/** With a folder, secrets are stored, so that configured clients stay valid and a newer provider gets its own. */
export const keepSecrets = (folder?: string): SecretOf => {
  const kept = folder === undefined ? shared : keep(folder)
  return (name, make = newSecret) => {
    const known = kept.read()
    const secret = known[name] ?? make()
    if (known[name] === undefined) kept.write({ ...known, [name]: secret })
    return secret
  }
}
