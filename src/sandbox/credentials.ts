import {
  constants,
  createHash,
  generateKeyPairSync,
  type KeyObject,
  privateDecrypt,
  randomBytes,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import type { DarajaOptions } from '../rails/daraja/options.ts'
import type { PesalinkOptions } from '../rails/pesalink/options.ts'

const pem = (key: KeyObject, type: 'spki' | 'pkcs8'): string => key.export({ type, format: 'pem' }).toString()
const secret = (): string => randomBytes(18).toString('base64url')
const digest = (text: string) => createHash('sha256').update(text).digest()

/** Equal texts, compared in constant time. */
export const sameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

/** The codes that PesaLink's magic accounts can answer and that are final in the sandbox's "documentation". */
const failureCodes = [
  '1',
  '2',
  '3',
  '4',
  '8',
  '11',
  '17',
  '21',
  '26',
  '1001',
  '1019',
  '1032',
  '1037',
  '2001',
  '2006',
  '2028',
  '2040',
  '8006',
]

/** The sandbox's own credentials, made anew for each one: nothing to configure, nothing to leak. */
export const createCredentials = () => {
  const environment = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const merchant = generateKeyPairSync('rsa', { modulusLength: 2048 })

  const daraja = {
    consumerKey: secret(),
    consumerSecret: secret(),
    shortcode: '174379',
    passkey: secret(),
    transactionType: 'CustomerPayBillOnline',
    b2cShortcode: '600998',
    b2bShortcode: '600997',
    initiatorName: 'sandboxapi',
    initiatorPassword: secret(),
    certificatePem: pem(environment.publicKey, 'spki'),
    tillIdentifierType: '4',
    timeoutMs: 5_000,
  } as const satisfies Omit<DarajaOptions, 'baseUrl'>

  const pesalink = {
    apiKey: secret(),
    merchantCode: '0123456789',
    consumerSecret: secret(),
    privateKeyPem: pem(merchant.privateKey, 'pkcs8'),
    source: { countryCode: 'KE', name: 'Sandbox', accountNumber: '1450160649886' },
    bankCodes: 'as_given',
    failureCodes,
    callbackField: 'callbackUrl',
    timeoutMs: 5_000,
  } as const satisfies Omit<PesalinkOptions, 'baseUrl'>

  return {
    daraja,
    pesalink,
    /** The initiator's password inside a SecurityCredential, or undefined when it was not made for this environment. */
    decryptCredential: (credential: string): string | undefined => {
      try {
        const sealed = Buffer.from(credential, 'base64')
        return privateDecrypt({ key: environment.privateKey, padding: constants.RSA_PKCS1_PADDING }, sealed).toString('utf8')
      } catch {
        return undefined
      }
    },
    verifySignature: (text: string, signature: string): boolean =>
      verify('sha256', Buffer.from(text, 'utf8'), merchant.publicKey, Buffer.from(signature, 'base64')),
  }
}

export type Credentials = ReturnType<typeof createCredentials>
