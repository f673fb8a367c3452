import { constants, createPublicKey, publicEncrypt } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import type { AnyRail } from '../../lib/rail-names.ts'
import { exchange, urlAt } from '../exchange.ts'
import { textField } from '../fields.ts'
import { createGateway, readToken, type Send } from '../gateway.ts'
import { type AdapterDeps, type HeldToken, longestRequestMs, type NoToken, type SettingsOf } from '../rail.ts'
import { pem } from '../text.ts'
import type { definition } from './definition.ts'

export type DarajaSettings = SettingsOf<typeof definition>

export const options = (settings: DarajaSettings) => ({
  baseUrl: settings.DARAJA_URL ?? '',
  consumerKey: settings.DARAJA_CONSUMER_KEY ?? '',
  consumerSecret: settings.DARAJA_CONSUMER_SECRET ?? '',
  /** The shortcode that collects payments (STK): a paybill, or a till's store or head office number. */
  shortcode: settings.DARAJA_SHORTCODE ?? '',
  passkey: settings.DARAJA_PASSKEY ?? '',
  /** The till that a prompt pays. The passkey, queries and lists still use `shortcode`. */
  tillNumber: settings.DARAJA_TILL_NUMBER,
  b2cShortcode: settings.DARAJA_B2C_SHORTCODE,
  b2bShortcode: settings.DARAJA_B2B_SHORTCODE,
  initiatorName: settings.DARAJA_INITIATOR_NAME ?? '',
  /** Expires after 90 days. */
  initiatorPassword: settings.DARAJA_INITIATOR_PASSWORD ?? '',
  certificatePem: pem(settings.DARAJA_CERTIFICATE),
  /** "4" according to the documentation, although production systems send "2" for tills. */
  tillIdentifierType: settings.DARAJA_TILL_IDENTIFIER_TYPE,
  timeoutMs: longestRequestMs,
  deposits:
    settings.MPESA_C2B_SHORTCODE === undefined
      ? null
      : {
          shortcode: settings.MPESA_C2B_SHORTCODE,
          /** Versions 1 and 2 are separate products. An app is subscribed to one of them. */
          version: settings.MPESA_C2B_VERSION,
          pullNumber: settings.MPESA_PULL_NUMBER ?? null,
        },
})
export type DarajaOptions = ReturnType<typeof options>

/** RSA PKCS#1 v1.5, as the provider requires. Throws for another PEM. Created once, as it costs a tenth of a payment. */
export const createCredential = (certificatePem: string, password: string): string => {
  const key = createPublicKey(certificatePem)
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(password, 'utf8')).toString('base64')
}

export const payerOf = (options: Pick<DarajaOptions, 'shortcode' | 'b2cShortcode' | 'b2bShortcode'>, rail: AnyRail): string =>
  (rail === 'MPESA_B2C' ? options.b2cShortcode : options.b2bShortcode) ?? options.shortcode

/** Token errors, after which the gateway has not processed the request. */
const tokenRefusals = new Set(['401.002.01', '401.003.01', '404.001.03', '404.001.04'])

/** The token is valid, but the app is not subscribed to this API: "Invalid API call as no apiproduct match found". */
export const lacksProduct = (message: string | undefined): boolean => /apiproduct/i.test(message ?? '')

export const obtainToken = async (options: DarajaOptions, clock: Clock): Promise<HeldToken | NoToken> => {
  const basic = Buffer.from(`${options.consumerKey}:${options.consumerSecret}`, 'utf8').toString('base64')
  const answer = await exchange({
    method: 'GET',
    url: urlAt(options.baseUrl, '/oauth/v1/generate?grant_type=client_credentials'),
    headers: { authorization: `Basic ${basic}` },
    timeoutMs: options.timeoutMs,
  })
  const secondsIn = (body: unknown) => Number.parseInt(textField(body, 'expires_in') ?? '', 10)
  return readToken(answer, 'access_token', secondsIn, clock)
}

export const connect = (options: DarajaOptions, deps: AdapterDeps): Send =>
  createGateway(
    {
      ...options,
      provider: 'MPESA',
      credentials: [urlAt(options.baseUrl), options.consumerKey, options.consumerSecret],
      obtain: () => obtainToken(options, deps.clock),
      refusesToken: ({ body }) =>
        tokenRefusals.has(textField(body, 'errorCode') ?? '') && !lacksProduct(textField(body, 'errorMessage')),
    },
    deps,
  )
