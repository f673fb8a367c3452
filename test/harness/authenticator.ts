import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import type { Client, Json } from './client.ts'

// A security key in software (CTAP2): what Chromium's virtual authenticator does in the browser's tests, for tests over HTTP.

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
const base64url = (data: Buffer | string) => Buffer.from(data).toString('base64url')

/** The few forms of CBOR (RFC 8949) that a registration has. */
const head = (major: number, value: number): Buffer => {
  if (value < 24) return Buffer.from([(major << 5) | value])
  return value < 256 ? Buffer.from([(major << 5) | 24, value]) : Buffer.from([(major << 5) | 25, value >> 8, value & 255])
}
const cbor = (value: number | string | Buffer | Map<number | string, unknown>): Buffer => {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  const entries = [...value].flatMap(([key, one]) => [cbor(key), cbor(one as Parameters<typeof cbor>[0])])
  return Buffer.concat([head(5, value.size), ...entries])
}

export type AuthenticatorOptions = {
  /** What the authenticator does; each is what an honest browser on our page does when it is left out. */
  origin?: string
  rpId?: string
  userVerified?: boolean
  /** Zero for authenticators that do not count. */
  count?: number
  kind?: 'EC' | 'RSA'
}

const keyOf = (kind: 'EC' | 'RSA'): { privateKey: KeyObject; cose: Buffer } => {
  const { privateKey, publicKey } =
    kind === 'EC' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = publicKey.export({ format: 'jwk' })
  const part = (text: string | undefined) => Buffer.from(text ?? '', 'base64url')
  const cose: [number, number | Buffer][] =
    kind === 'EC'
      ? [
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, part(jwk.x)],
          [-3, part(jwk.y)],
        ]
      : [
          [1, 3],
          [3, -257],
          [-1, part(jwk.n)],
          [-2, part(jwk.e)],
        ]
  return { privateKey, cose: cbor(new Map(cose)) }
}

/** A passkey that can be registered and that signs texts, as a browser on the page of `publicUrl` would return it. */
export const newAuthenticator = (publicUrl: string, { kind = 'EC' }: Pick<AuthenticatorOptions, 'kind'> = {}) => {
  const { privateKey, cose } = keyOf(kind)
  const id = randomBytes(16)
  let counted = 0
  const dataOf = (more: Buffer, flags: number, { rpId, userVerified = true, count }: AuthenticatorOptions) => {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(count ?? ++counted)
    const bits = flags | 0x01 | (userVerified ? 0x04 : 0)
    return Buffer.concat([sha256(rpId ?? new URL(publicUrl).hostname), Buffer.from([bits]), counter, more])
  }
  const clientData = (type: string, challenge: string, { origin }: AuthenticatorOptions) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: origin ?? publicUrl, crossOrigin: false }))
  const credential = (response: Record<string, string>) => ({
    id: base64url(id),
    rawId: base64url(id),
    type: 'public-key',
    clientExtensionResults: {},
    authenticatorAttachment: 'cross-platform',
    response,
  })
  return {
    id: base64url(id),
    create: (challenge: string, options: AuthenticatorOptions = {}) => {
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose])
      const authData = dataOf(attested, 0x40, options)
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ])
      const clientDataJSON = base64url(clientData('webauthn.create', challenge, options))
      return credential({ clientDataJSON, attestationObject: base64url(cbor(attestation)) })
    },
    /** Signs a text as the approval page lets it be signed: the challenge is its SHA-256. */
    sign: (message: string, options: AuthenticatorOptions = {}) => {
      const authenticatorData = dataOf(Buffer.alloc(0), 0, options)
      const client = clientData('webauthn.get', base64url(sha256(message)), options)
      const signature = createSign('sha256').update(authenticatorData).update(sha256(client)).sign(privateKey)
      return credential({
        authenticatorData: base64url(authenticatorData),
        clientDataJSON: base64url(client),
        signature: base64url(signature),
      })
    },
  }
}

export type Authenticator = ReturnType<typeof newAuthenticator>

/** Registers a new passkey for the caller of `api`. */
export const addPasskey = async (
  api: Client,
  publicUrl: string,
  options: AuthenticatorOptions = {},
): Promise<{ passkey: Json; authenticator: Authenticator; path: string }> => {
  const authenticator = newAuthenticator(publicUrl, options)
  const { body: wanted } = await api.post('/v1/accounts/me/passkeys/options', undefined)
  const credential = authenticator.create(wanted.challenge, options)
  const answer = await api.post('/v1/accounts/me/passkeys', { name: 'My phone', credential })
  if (answer.status !== 201) throw new Error(`no passkey: ${answer.status} ${answer.text}`)
  return { passkey: answer.body, authenticator, path: `/v1/accounts/me/passkeys/${answer.body.id}` }
}
