import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { exchange, urlAt } from '../exchange.ts'
import { asRecord, providerInstant, textField } from '../fields.ts'
import { createGateway, readToken, type Send } from '../gateway.ts'
import { type AdapterDeps, type HeldToken, longestRequestMs, type NoToken, type SettingsOf } from '../rail.ts'
import { pem } from '../text.ts'
import type { definition } from './definition.ts'

export type PesalinkSettings = SettingsOf<typeof definition>

export const options = (settings: PesalinkSettings) => ({
  baseUrl: settings.PESALINK_URL ?? '',
  apiKey: settings.PESALINK_API_KEY ?? '',
  merchantCode: settings.PESALINK_MERCHANT_CODE ?? '',
  consumerSecret: settings.PESALINK_CONSUMER_SECRET ?? '',
  privateKeyPem: pem(settings.PESALINK_PRIVATE_KEY),
  source: {
    countryCode: 'KE',
    name: settings.PESALINK_ACCOUNT_NAME ?? '',
    accountNumber: settings.PESALINK_ACCOUNT_NUMBER ?? '',
  },
  /** Maps our bank codes to the bank's own, such as "0012" to "57". A code that is not listed is rejected, never guessed. */
  bankCodes: settings.PESALINK_BANK_CODES,
  /** Codes that the bank documents as "no money moved". Any other failure code is `unknown`. */
  failureCodes: settings.PESALINK_FAILURE_CODES as readonly string[],
  /** The bank's field for a callback URL. Null: none, so the outcome is known only from queries. */
  callbackField: settings.PESALINK_CALLBACK_FIELD ?? null,
  timeoutMs: longestRequestMs,
  /** Our bank's code, which payers at other banks need. Null: deposits are off. */
  depositBankCode: settings.PESALINK_DEPOSIT_BANK_CODE ?? null,
  /** Path for registering the notification URL. Null: entered manually at the bank. */
  notificationPath: settings.PESALINK_NOTICE_PATH ?? null,
  /** Path for account name lookups, which differs between banks and is not published. */
  lookUpPath: settings.PESALINK_LOOKUP_PATH ?? null,
})
export type PesalinkOptions = ReturnType<typeof options>

export type Sign = (text: string) => string

/** Throws unless the PEM is an RSA private key. */
export const createSigner = (privateKeyPem: string): Sign => {
  const key: KeyObject = createPrivateKey(privateKeyPem)
  if (key.asymmetricKeyType !== 'rsa') throw new TypeError('PesaLink signs with an RSA key')
  return (text) => sign('sha256', Buffer.from(text, 'utf8'), key).toString('base64')
}

export const obtainToken = async (options: PesalinkOptions, clock: Clock): Promise<HeldToken | NoToken> => {
  const answer = await exchange({
    method: 'POST',
    url: urlAt(options.baseUrl, '/authentication/api/v3/authenticate/merchant'),
    headers: { 'api-key': options.apiKey },
    body: { merchantCode: options.merchantCode, consumerSecret: options.consumerSecret },
    timeoutMs: options.timeoutMs,
  })
  const secondsIn = (body: unknown) => {
    const end = providerInstant(textField(body, 'expiresIn') ?? '')
    return end === undefined ? Number.NaN : (end.getTime() - clock.now().getTime()) / 1000
  }
  return readToken(answer, 'accessToken', secondsIn, clock)
}

export const connect = (options: PesalinkOptions, deps: AdapterDeps): Send =>
  createGateway(
    {
      ...options,
      provider: 'PESALINK',
      credentials: [urlAt(options.baseUrl), options.merchantCode, options.apiKey, options.consumerSecret],
      obtain: () => obtainToken(options, deps.clock),
      // Only a JSON response counts, because a proxy's 401 proves nothing about the bank.
      refusesToken: ({ status, body }) => status === 401 && asRecord(body) !== undefined,
    },
    deps,
  )
