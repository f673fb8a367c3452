import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  privateDecrypt,
  randomBytes,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import type { Provider } from '../lib/rail-names.ts'
import type { DarajaOptions } from '../rails/daraja/options.ts'
import type { PesalinkOptions } from '../rails/pesalink/options.ts'
import { readDocument, writeDocument } from './store.ts'

const pem = (key: KeyObject, type: 'spki' | 'pkcs8'): string => key.export({ type, format: 'pem' }).toString()
const secret = (): string => randomBytes(18).toString('base64url')
const digest = (text: string) => createHash('sha256').update(text).digest()

/** Whether two texts are equal, compared in constant time. */
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

const newKey = () => pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, 'pkcs8')

/** A provider's secrets are added here. */
const makers = {
  consumerKey: secret,
  consumerSecret: secret,
  passkey: secret,
  initiatorPassword: secret,
  apiKey: secret,
  merchantSecret: secret,
  environmentKey: newKey,
  merchantKey: newKey,
}
type Secrets = Record<keyof typeof makers, string>

const createSecrets = (known: Partial<Secrets> = {}): Secrets =>
  Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, known[name as keyof Secrets] ?? make()])) as Secrets

const fileName = 'credentials.json'

/**
 * Stored, so that a client that was configured with them can use them after a restart. A provider that is newer than the file gets its secrets,
 * and those of the others stay.
 */
const storedSecrets = (folder: string): Secrets => {
  const text = readDocument(folder, fileName)
  const stored: Partial<Secrets> = text === undefined ? {} : JSON.parse(text)
  const secrets = createSecrets(stored)
  if (Object.keys(makers).some((name) => !Object.hasOwn(stored, name)))
    writeDocument(folder, fileName, JSON.stringify(secrets, null, 2))
  return secrets
}

/** Two pairs of RSA keys take up to a second of processor time: sandboxes without a folder in one process share theirs. */
let shared: Secrets | undefined
const forThisProcess = (): Secrets => {
  shared ??= createSecrets()
  return shared
}

/** The sandbox's own credentials: nothing to configure. Without a folder they live as long as the process. */
export const createCredentials = (folder?: string) => {
  const secrets = folder === undefined ? forThisProcess() : storedSecrets(folder)
  const environment = { privateKey: createPrivateKey(secrets.environmentKey), publicKey: createPublicKey(secrets.environmentKey) }
  const merchant = { privateKey: createPrivateKey(secrets.merchantKey), publicKey: createPublicKey(secrets.merchantKey) }

  const daraja = {
    consumerKey: secrets.consumerKey,
    consumerSecret: secrets.consumerSecret,
    shortcode: '174379',
    passkey: secrets.passkey,
    transactionType: 'CustomerPayBillOnline',
    b2cShortcode: '600998',
    b2bShortcode: '600997',
    initiatorName: 'sandboxapi',
    initiatorPassword: secrets.initiatorPassword,
    certificatePem: pem(environment.publicKey, 'spki'),
    tillIdentifierType: '4',
    timeoutMs: 5_000,
    deposits: { shortcode: '174379', unanswered: 'Completed' },
  } as const satisfies Omit<DarajaOptions, 'baseUrl'>

  const pesalink = {
    apiKey: secrets.apiKey,
    merchantCode: '0123456789',
    consumerSecret: secrets.merchantSecret,
    privateKeyPem: pem(merchant.privateKey, 'pkcs8'),
    source: { countryCode: 'KE', name: 'Sandbox', accountNumber: '1450160649886' },
    bankCodes: 'as_given',
    failureCodes,
    callbackField: 'callbackUrl',
    timeoutMs: 5_000,
    depositBankCode: '68',
    noticePath: '/account-api/v3.0/notifications',
    lookUpPath: '/account-api/v3.0/pesalink/lookup',
  } as const satisfies Omit<PesalinkOptions, 'baseUrl'>

  return {
    daraja,
    pesalink,
    /** What a client of each provider needs, without the address that it is reached by. */
    options: { MPESA: daraja, PESALINK: pesalink } satisfies Record<Provider, object>,
    /** The initiator's password in a SecurityCredential, or undefined when it was not made for this environment. */
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
