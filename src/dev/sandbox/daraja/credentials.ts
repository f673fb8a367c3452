import { constants, createPrivateKey, createPublicKey, privateDecrypt } from 'node:crypto'
import { z } from 'zod'
import type { DarajaOptions } from '../../../rails/daraja/gateway.ts'
import { mobileForm } from '../../../rails/fields.ts'
import type { Emulation } from '../emulator.ts'
import { gatewayError, validated } from '../gateway.ts'
import { newKey, pem, type SecretOf } from '../secrets.ts'

export const createCredentials = (secretOf: SecretOf) => {
  const privateKey = createPrivateKey(secretOf('environmentKey', newKey))
  const options = {
    consumerKey: secretOf('consumerKey'),
    consumerSecret: secretOf('consumerSecret'),
    shortcode: '174379',
    passkey: secretOf('passkey'),
    tillNumber: undefined,
    b2cShortcode: '600998',
    b2bShortcode: '600997',
    initiatorName: 'sandboxapi',
    initiatorPassword: secretOf('initiatorPassword'),
    certificatePem: pem(createPublicKey(privateKey), 'spki'),
    tillIdentifierType: '4',
    timeoutMs: 5_000,
    deposits: { shortcode: '174379', version: '2', pullNumber: '254722000000' },
  } as const satisfies Omit<DarajaOptions, 'baseUrl'>
  let opened: { credential: string; password: string } | undefined
  return {
    options,
    till: '5174379',
    /** Undefined if the credential was made for another environment. Caches the last credential, because clients reuse it. */
    decryptCredential: (credential: string): string | undefined => {
      if (opened?.credential === credential) return opened.password
      try {
        const sealed = Buffer.from(credential, 'base64')
        const password = privateDecrypt({ key: privateKey, padding: constants.RSA_PKCS1_PADDING }, sealed).toString('utf8')
        opened = { credential, password }
        return password
      } catch {
        return undefined
      }
    },
  }
}

export type Daraja = Emulation & { credentials: ReturnType<typeof createCredentials> }

export const mobile = z.string().regex(mobileForm)
export const organisation = z.string().regex(/^\d{5,7}$/)

/** The portal rejects addresses with these words, in any case. */
const forbiddenInAddress = /exe|cmd|sql|query|mpesa/i
export const url = z.url({ protocol: /^https?$/ }).refine((text) => !forbiddenInAddress.test(text))

export const amount = (min: bigint, max: bigint) =>
  z
    .union([z.string(), z.int()])
    .transform(String)
    .pipe(z.string().regex(/^[1-9]\d{0,8}$/))
    .transform(BigInt)
    .refine((value) => value >= min && value <= max)

export const initiated = {
  SecurityCredential: z.string().min(1),
  Remarks: z.string().min(2).max(100),
  QueueTimeOutURL: url,
  ResultURL: url,
}

export const endpoint = validated<Daraja>((field) => gatewayError(400, '400.002.02', `Bad Request - Invalid ${field}`))
