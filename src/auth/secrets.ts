import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** The prefix selects the resolver. No id has one of these prefixes. */
export const secretPrefixes = {
  api_key: 'service_live_',
  access_token: 'service_oat_',
  refresh_token: 'service_ort_',
  dashboard_token: 'service_dash_',
  invitation: 'service_inv_',
  authorization_code: 'service_oac_',
  device_code: 'service_odc_',
  client_secret: 'service_ocs_',
} as const
type SecretKind = keyof typeof secretPrefixes

/** 256 random bits as hex. With this much entropy, a SHA-256 hash is safe to store. */
export const newSecret = (kind: SecretKind): string => secretPrefixes[kind] + randomBytes(32).toString('hex')

/** 256 random bits without a prefix, for cookies and addresses. */
export const newOpaqueToken = (): string => randomBytes(32).toString('base64url')

const bytesOf = (part: string | Uint8Array): Uint8Array => (typeof part === 'string' ? Buffer.from(part) : part)

/** Makes one call to the crypto library instead of three, because this function runs on every request. */
export const sha256 = (...parts: (string | Uint8Array)[]): Buffer => {
  const [first = ''] = parts
  return hash('sha256', parts.length === 1 ? first : Buffer.concat(parts.map(bytesOf)), 'buffer')
}

export const sha256Hex = (part: string | Uint8Array): string => hash('sha256', part, 'hex')

/** Recorded in the audit log, so that a replaced secret is detected. */
export const digestOfSecret = (stored: Uint8Array): string => sha256Hex(stored)

export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)

/** `service_live_` and 64 hex digits. The first twelve digits find the row and are not secret. */
export const apiKeyPattern = /^service_live_([0-9a-f]{64})$/
const lookupDigits = 12

export const apiKeyLookup = (key: string): string =>
  key.slice(secretPrefixes.api_key.length, secretPrefixes.api_key.length + lookupDigits)

export type KeyStart = { lookup: string; fullKey: string | null }

/** Requires at least six hex digits of a key, so that a search cannot list all keys. Null for any other text. */
export const readKeyStart = (text: string): KeyStart | null => {
  const digits = /^service_live_([0-9a-f]{6,64})(?:[^0-9a-f].*)?$/.exec(text)?.[1]
  return digits === undefined ? null : { lookup: digits.slice(0, lookupDigits), fullKey: apiKeyPattern.test(text) ? text : null }
}

export const hashApiKey = (key: string, salt: Uint8Array): Buffer => sha256(salt, key)

export const newApiKey = () => {
  const plaintext = newSecret('api_key')
  const salt = randomBytes(16)
  return { plaintext, lookup: apiKeyLookup(plaintext), salt, hash: hashApiKey(plaintext, salt), lastFour: plaintext.slice(-4) }
}
