import { constants, createPrivateKey, createPublicKey, privateDecrypt } from 'node:crypto'
import type { Emulation } from '../../../dev/sandbox/emulator.ts'
import { newKey, newSecret, pem } from '../../../dev/sandbox/secrets.ts'
import type { DarajaOptions } from '../options.ts'

export const secrets = {
  consumerKey: newSecret,
  consumerSecret: newSecret,
  passkey: newSecret,
  initiatorPassword: newSecret,
  environmentKey: newKey,
}

export const createCredentials = (given: Readonly<Record<keyof typeof secrets, string>>) => {
  const privateKey = createPrivateKey(given.environmentKey)
  const options = {
    consumerKey: given.consumerKey,
    consumerSecret: given.consumerSecret,
    shortcode: '174379',
    passkey: given.passkey,
    transactionType: 'CustomerPayBillOnline',
    b2cShortcode: '600998',
    b2bShortcode: '600997',
    initiatorName: 'sandboxapi',
    initiatorPassword: given.initiatorPassword,
    certificatePem: pem(createPublicKey(given.environmentKey), 'spki'),
    tillIdentifierType: '4',
    timeoutMs: 5_000,
    deposits: { shortcode: '174379', unanswered: 'Completed', version: '2', pullNumber: '254722000000' },
  } as const satisfies Omit<DarajaOptions, 'baseUrl'>
  return {
    options,
    /** The till of the store `shortcode`. */
    till: '5174379',
    /** The initiator's password in a SecurityCredential, or undefined when it was not made for this environment. */
    decryptCredential: (credential: string): string | undefined => {
      try {
        const sealed = Buffer.from(credential, 'base64')
        return privateDecrypt({ key: privateKey, padding: constants.RSA_PKCS1_PADDING }, sealed).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}

/** What Daraja's endpoints work with. */
export type Daraja = Emulation & { credentials: ReturnType<typeof createCredentials> }
