import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { exchange } from '../exchange.ts'
import { asRecord, textField } from '../fields.ts'
import { createGateway, readToken, type Send, type Token } from '../gateway.ts'
import { providerInstant } from '../nairobi-time.ts'
import type { AdapterDeps, NoToken } from '../rail.ts'

/** One bank's API for PesaLink, in Jenga's shape. */
export type PesalinkOptions = {
  baseUrl: string
  apiKey: string
  merchantCode: string
  consumerSecret: string
  /** RSA private key (PEM) whose public half the bank holds. */
  privateKeyPem: string
  source: { countryCode: string; name: string; accountNumber: string }
  /** Our bank codes in the bank's numbering ("0012" here is "57" there). A code that is not listed is refused, never guessed. */
  bankCodes: Readonly<Record<string, string>> | 'as_given'
  /** The codes of the bank's documentation that prove that no money moved. Any other code of a failure is `unknown`. */
  failureCodes: readonly string[]
  /** The field of the request for a delivery URL, where the bank has one; null: the outcome is known only by query. */
  callbackField: string | null
  timeoutMs: number
  /** The code of our bank, for people who pay in from another one; null: switched off. */
  depositBankCode: string | null
  /** Where the bank takes the address for notices of deposits; null: it is entered there by hand. */
  noticePath: string | null
  /** Where the bank answers whose account it is; banks differ, and publish no path. Null: it is not asked. */
  lookUpPath: string | null
}

export type Sign = (text: string) => string

/** Throws for a PEM that is no RSA private key, when the rail is built. */
export const createSigner = (privateKeyPem: string): Sign => {
  const key: KeyObject = createPrivateKey(privateKeyPem)
  if (key.asymmetricKeyType !== 'rsa') throw new TypeError('PesaLink signs with an RSA key')
  return (text) => sign('sha256', Buffer.from(text, 'utf8'), key).toString('base64')
}

export const obtainToken = async (options: PesalinkOptions, clock: Clock): Promise<Token | NoToken> => {
  const answer = await exchange({
    method: 'POST',
    url: `${options.baseUrl}/authentication/api/v3/authenticate/merchant`,
    headers: { 'api-key': options.apiKey },
    body: { merchantCode: options.merchantCode, consumerSecret: options.consumerSecret },
    timeoutMs: options.timeoutMs,
  })
  // `expiresIn` is the instant of expiry.
  return readToken(answer, 'accessToken', (body) => {
    const end = providerInstant(textField(body, 'expiresIn') ?? '')
    return end === undefined ? Number.NaN : (end.getTime() - clock.now().getTime()) / 1000
  })
}

export const connectPesalink = (options: PesalinkOptions, deps: AdapterDeps): Send =>
  createGateway(
    {
      ...options,
      provider: 'PESALINK',
      credentials: [options.baseUrl, options.merchantCode, options.apiKey, options.consumerSecret],
      obtain: () => obtainToken(options, deps.clock),
      // A 401 of the bank's API itself, in JSON: a 401 of a proxy would prove nothing about the bank.
      refusesToken: ({ status, body }) => status === 401 && asRecord(body) !== undefined,
    },
    deps,
  )
