import { createHash, generateKeyPairSync, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { keepDocument } from './store.ts'

export const pem = (key: KeyObject, type: 'spki' | 'pkcs8'): string => key.export({ type, format: 'pem' }).toString()
const digest = (text: string) => createHash('sha256').update(text).digest()

/** Whether two texts are equal, compared in constant time. */
export const sameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

/** How a secret of a provider is made. */
export const newSecret = (): string => randomBytes(18).toString('base64url')
export const newKey = (): string => pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, 'pkcs8')

const Stored = z.record(z.string(), z.string())

/** Pairs of RSA keys take up to a second of processor time: sandboxes without a folder in one process share theirs. */
const shared: Record<string, string> = {}

/**
 * The providers' secrets: nothing to configure. With a folder they are kept, so that a client that was configured with them can use them
 * after a restart; a provider that is newer than the file gets its own, and those of the others stay.
 */
export const readSecrets = <Name extends string>(makers: Readonly<Record<Name, () => string>>, folder?: string) => {
  const kept = keepDocument(folder, 'credentials.json', folder === undefined ? shared : {}, (stored) => Stored.parse(stored))
  const known = kept.read()
  const missing = Object.entries<() => string>(makers).filter(([name]) => !Object.hasOwn(known, name))
  const secrets = { ...known, ...Object.fromEntries(missing.map(([name, make]) => [name, make()])) }
  if (folder === undefined) Object.assign(shared, secrets)
  else if (missing.length > 0) kept.write(secrets)
  return secrets as Record<Name, string>
}
