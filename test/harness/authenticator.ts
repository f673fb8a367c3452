import { createHash, createPublicKey, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import type { Client, Json } from './client.ts'

// A security key in software (CTAP2), for tests over HTTP. Chromium's virtual authenticator does the same in browser tests.

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
const base64url = (data: Buffer | string) => Buffer.from(data).toString('base64url')

/** The few forms of CBOR (RFC 8949) in a registration. */
const head = (major: number, value: number): Buffer => {
  if (value < 24) return Buffer.from([(major << 5) | value])
  return value < 256 ? Buffer.from([(major << 5) | 24, value]) : Buffer.from([(major << 5) | 25, value >> 8, value & 255])
}
type Cbor = number | string | Buffer | Buffer[] | Map<number | string, unknown>
const cbor = (value: Cbor): Buffer => {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  const entries = [...value].flatMap(([key, one]) => [cbor(key), cbor(one as Cbor)])
  return Buffer.concat([head(5, value.size), ...entries])
}

export type AuthenticatorOptions = {
  /** The authenticator's behaviour. Each default is that of an honest browser on our page. */
  origin?: string
  rpId?: string
  userVerified?: boolean
  /** Flags other than presence and verification: 0x08 for "may be synced", 0x10 for "is synced"; others are invented. */
  flags?: number
  /** Zero for authenticators that do not count. */
  count?: number
  kind?: 'EC' | 'RSA'
  /** An attestation statement whose certificates name this address. Default: none, as the page asks. */
  revocationList?: string
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

/** DER (X.690), the encoding of certificates. */
const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const size = content.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}
const hex = (text: string) => Buffer.from(text, 'hex')
const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const commonName = (name: string) => sequence(der(0x31, sequence(hex('0603550403'), der(0x0c, Buffer.from(name)))))
const extension = (oid: string, value: Buffer) => sequence(hex(oid), der(0x04, value))

/**
 * An `android-key` attestation statement with an attacker's certificates. They name `revocationList`, an address that a verifying
 * library fetches.
 */
const androidKeyStatement = (key: KeyObject, signed: { authData: Buffer; client: Buffer }, revocationList: string) => {
  const sign = (data: Buffer) => createSign('sha256').update(data).sign(key)
  const ecdsaWithSha256 = sequence(hex('06082a8648ce3d040302'))
  const uri = der(0x86, Buffer.from(revocationList))
  const points = extension('0603551d1f', sequence(sequence(der(0xa0, der(0xa0, uri)))))
  const described = [
    hex('0201010a0100'),
    hex('0201010a0100'),
    der(0x04, sha256(signed.client)),
    der(0x04),
    sequence(),
    sequence(),
  ]
  const description = extension('060a2b06010401d679020111', sequence(...described))
  const certificate = (serial: number, subject: string, extensions: Buffer[]) => {
    const body = sequence(
      der(0xa0, hex('020102')),
      der(0x02, Buffer.from([serial])),
      ecdsaWithSha256,
      commonName('Root'),
      sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z'))),
      commonName(subject),
      createPublicKey(key).export({ type: 'spki', format: 'der' }),
      der(0xa3, sequence(...extensions)),
    )
    return sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), sign(body)))
  }
  return new Map<string, unknown>([
    ['alg', -7],
    ['sig', sign(Buffer.concat([signed.authData, sha256(signed.client)]))],
    ['x5c', [certificate(1, 'Leaf', [points, description]), certificate(2, 'Root', [points])]],
  ])
}

/** A passkey that registers and signs texts, in the form of a browser on the page of `publicUrl`. */
export const newAuthenticator = (publicUrl: string, { kind = 'EC' }: Pick<AuthenticatorOptions, 'kind'> = {}) => {
  const { privateKey, cose } = keyOf(kind)
  const id = randomBytes(16)
  let counted = 0
  const dataOf = (more: Buffer, flags: number, { rpId, userVerified = true, count, flags: own = 0 }: AuthenticatorOptions) => {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(count ?? ++counted)
    const bits = flags | own | 0x01 | (userVerified ? 0x04 : 0)
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
  const assertion = (challenge: string, options: AuthenticatorOptions) => {
    const authenticatorData = dataOf(Buffer.alloc(0), 0, options)
    const client = clientData('webauthn.get', challenge, options)
    const signature = createSign('sha256').update(authenticatorData).update(sha256(client)).sign(privateKey)
    return credential({
      authenticatorData: base64url(authenticatorData),
      clientDataJSON: base64url(client),
      signature: base64url(signature),
    })
  }
  return {
    id: base64url(id),
    create: (challenge: string, options: AuthenticatorOptions = {}) => {
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose])
      const authData = dataOf(attested, 0x40, options)
      const client = clientData('webauthn.create', challenge, options)
      const { revocationList } = options
      const attestation = new Map<string, unknown>([
        ['fmt', revocationList ? 'android-key' : 'none'],
        ['attStmt', revocationList ? androidKeyStatement(privateKey, { authData, client }, revocationList) : new Map()],
        ['authData', authData],
      ])
      return credential({ clientDataJSON: base64url(client), attestationObject: base64url(cbor(attestation)) })
    },
    /** Signs a text as the approval page lets it be signed: the challenge is its SHA-256. */
    /** Signs a text, as for an approval. */
    sign: (message: string, options: AuthenticatorOptions = {}) => assertion(base64url(sha256(message)), options),
    /** Answers a challenge of the service. */
    answer: (challenge: string, options: AuthenticatorOptions = {}) => assertion(challenge, options),
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
