import { createPrivateKey, createPublicKey, verify } from 'node:crypto'
import type { Emulation } from '../../../dev/sandbox/emulator.ts'
import { newKey, pem, type SecretOf } from '../../../dev/sandbox/secrets.ts'
import type { PesalinkOptions } from '../gateway.ts'

/** The codes that magic accounts can answer and that are final in the sandbox's "documentation". */
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

export const createCredentials = (secretOf: SecretOf) => {
  const privateKey = createPrivateKey(secretOf('merchantKey', newKey))
  const publicKey = createPublicKey(privateKey)
  const options = {
    apiKey: secretOf('apiKey'),
    merchantCode: '0123456789',
    consumerSecret: secretOf('merchantSecret'),
    privateKeyPem: pem(privateKey, 'pkcs8'),
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
    options,
    verifySignature: (text: string, signature: string): boolean =>
      verify('sha256', Buffer.from(text, 'utf8'), publicKey, Buffer.from(signature, 'base64')),
  }
}

/** What the bank's endpoints work with. */
export type Pesalink = Emulation & { credentials: ReturnType<typeof createCredentials> }
