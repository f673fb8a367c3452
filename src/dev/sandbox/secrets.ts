import { createHash, generateKeyPairSync, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import { readDocument, writeDocument } from './store.ts'

export const pem = (key: KeyObject, type: 'spki' | 'pkcs8'): string => key.export({ type, format: 'pem' }).toString()
const digest = (text: string) => createHash('sha256').update(text).digest()

/** Whether two texts are equal, compared in constant time. */
export const sameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

/** How a secret of a provider is made. */
export const newSecret = (): string => randomBytes(18).toString('base64url')
export const newKey = (): string => pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, 'pkcs8')

type Makers<Name extends string> = Readonly<Record<Name, () => string>>
type Secrets<Name extends string> = Record<Name, string>

const complete = <Name extends string>(makers: Makers<Name>, known: Partial<Secrets<Name>> = {}): Secrets<Name> =>
  Object.fromEntries(
    Object.entries<() => string>(makers).map(([name, make]) => [name, known[name as Name] ?? make()]),
  ) as Secrets<Name>

const fileName = 'credentials.json'

/**
 * Stored, so that a client that was configured with them can use them after a restart. A provider that is newer than the file gets its secrets,
 * and those of the others stay.
 */
const stored = <Name extends string>(makers: Makers<Name>, folder: string): Secrets<Name> => {
  const text = readDocument(folder, fileName)
  const known: Partial<Secrets<Name>> = text === undefined ? {} : JSON.parse(text)
  const secrets = complete(makers, known)
  if (Object.keys(makers).some((name) => !Object.hasOwn(known, name)))
    writeDocument(folder, fileName, JSON.stringify(secrets, null, 2))
  return secrets
}

/** Pairs of RSA keys take up to a second of processor time: sandboxes without a folder in one process share theirs. */
const shared: Record<string, string> = {}

/** The providers' secrets: nothing to configure. Without a folder they live as long as the process. */
export const readSecrets = <Name extends string>(makers: Makers<Name>, folder?: string): Secrets<Name> => {
  if (folder !== undefined) return stored(makers, folder)
  const secrets = complete(makers, shared as Partial<Secrets<Name>>)
  Object.assign(shared, secrets)
  return secrets
}
