import { fromBase64Url, toBase64Url, utf8 } from '../bytes.ts'
import { bad, type Finding, ok } from '../finding.ts'
import type { Receipt } from '../receipt.ts'

type Bytes = Uint8Array<ArrayBuffer>
export type PasskeyProof = NonNullable<NonNullable<Receipt['approval']>['decisions'][number]['passkey']>

const sha256 = async (bytes: Bytes): Promise<Bytes> => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

/** Converts a DER integer (X.690) to the 32 bytes that WebCrypto expects. */
const fixed = (integer: Uint8Array): Bytes | undefined => {
  const digits = integer[0] === 0 ? integer.subarray(1) : integer
  if (digits.length > 32) return undefined
  const padded = new Uint8Array(32)
  padded.set(digits, 32 - digits.length)
  return padded
}

/** Converts an ECDSA signature from DER (two integers, r and s), as authenticators write it, to their concatenation. */
const plainSignature = (der: Bytes): Bytes | undefined => {
  const [sequence, length, first, rLength = 0] = der
  const second = 4 + rLength
  const sLength = der[second + 1] ?? 0
  if (sequence !== 0x30 || length !== der.length - 2 || first !== 2 || der[second] !== 2) return undefined
  if (der.length !== second + 2 + sLength) return undefined
  const [r, s] = [fixed(der.subarray(4, second)), fixed(der.subarray(second + 2))]
  return r && s && Uint8Array.from([...r, ...s])
}

const verifies = async ({ public_key: key }: PasskeyProof, signature: Bytes, signed: Bytes): Promise<boolean> => {
  if (key.kty === 'EC') {
    const plain = plainSignature(signature)
    const name = { name: 'ECDSA', namedCurve: 'P-256' }
    const jwk = { kty: 'EC', crv: key.crv ?? '', x: key.x ?? '', y: key.y ?? '' }
    const imported = await crypto.subtle.importKey('jwk', jwk, name, false, ['verify'])
    return plain !== undefined && crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, imported, plain, signed)
  }
  const jwk = { kty: 'RSA', n: key.n ?? '', e: key.e ?? '' }
  const name = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('jwk', jwk, name, false, ['verify'])
  return crypto.subtle.verify(name.name, imported, signature, signed)
}

/** The site that the text names in its first line: `payments.example asks you to …`. */
const siteOf = (message: string): string => message.slice(0, message.indexOf(' '))

const same = (one: Bytes, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

/** The problem with the page on which the passkey was used, or with the text that it signed. Undefined if neither has one. */
const contextProblem = async (clientData: Bytes, authenticator: Bytes, message: string): Promise<string | undefined> => {
  const client: Record<string, unknown> = JSON.parse(new TextDecoder().decode(clientData))
  if (client.type !== 'webauthn.get') return 'it is not the signature of a passkey'
  if (client.challenge !== toBase64Url(await sha256(utf8(message)))) return 'it signed another text'
  const origin = new URL(String(client.origin))
  if (origin.host !== siteOf(message) || client.crossOrigin === true)
    return `it was made on ${client.origin}, and not on the page of ${siteOf(message)}`
  if (!same(await sha256(utf8(origin.hostname)), authenticator.subarray(0, 32))) return 'the passkey is for another site'
  // Bits 0 and 2 (WebAuthn, section 6.1): the user was present and verified.
  return ((authenticator[32] ?? 0) & 0x05) === 0x05 ? undefined : 'the authenticator did not verify its user'
}

/** Whether the passkey in the receipt signed the text, on the site's own page and with user verification. */
export const checkPasskey = async (
  check: string,
  { message, signature, passkey }: { message: string | null; signature: string; passkey: PasskeyProof },
): Promise<Finding> => {
  const [bytes, clientData, authenticator] = [signature, passkey.client_data, passkey.authenticator_data].map(fromBase64Url)
  if (!bytes || !clientData || !authenticator || authenticator.length < 37) return bad(check, 'the signature cannot be read')
  try {
    const problem = await contextProblem(clientData, authenticator, message ?? '')
    if (problem) return bad(check, problem)
    const signed = Uint8Array.from([...authenticator, ...(await sha256(clientData))])
    if (!(await verifies(passkey, bytes, signed))) return bad(check, 'the key in the receipt did not sign this')
    return ok(
      check,
      `signed by the passkey ${passkey.credential_id}, with its user verified; whose it is, the service vouches for`,
    )
  } catch {
    return bad(check, 'the signature cannot be read')
  }
}
