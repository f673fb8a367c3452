import { constants, createPublicKey, publicEncrypt } from 'node:crypto'
import type { AnyRail } from '../../lib/rail-names.ts'
import { exchange } from '../exchange.ts'
import { textField } from '../fields.ts'
import { createGateway, readToken, type Send, type Token } from '../gateway.ts'
import type { AdapterDeps, NoToken } from '../rail.ts'

/** One Daraja application with its shortcodes and its initiator. Everything comes from configuration; nothing is guessed. */
export type DarajaOptions = {
  baseUrl: string
  consumerKey: string
  consumerSecret: string
  /** The shortcode that collects (STK): a paybill, or the store or head office of a till. */
  shortcode: string
  passkey: string
  /** Who is paid by a prompt; default: `shortcode`. The passkey, queries and lists stay those of `shortcode`. */
  tillNumber?: string | undefined
  /** The shortcodes that pay out; default: `shortcode`. */
  b2cShortcode?: string | undefined
  b2bShortcode?: string | undefined
  initiatorName: string
  /** Expires 90 days after it was set at the provider. */
  initiatorPassword: string
  /** The environment's certificate, or its public key. */
  certificatePem: string
  /** The documentation says "4" for every receiver; production systems have been seen to send "2" for tills. */
  tillIdentifierType: '2' | '4'
  timeoutMs: number
  /** Payments by persons to our paybill; null: switched off. */
  deposits: {
    shortcode: string
    /** C2B's version 1 and 2 are two products: an app has one of them. */
    version: '1' | '2'
    /** The phone for which the list of payments is registered; null: it is registered otherwise. */
    pullNumber: string | null
  } | null
}

/**
 * The initiator's password, encrypted with the environment's certificate (RSA PKCS#1 v1.5, as the provider requires). Throws for a PEM that
 * is neither a certificate nor a public key. Made once, when the rail is built: for each payment it would be a tenth of what sending costs.
 */
export const createCredential = (certificatePem: string, password: string): string => {
  const key = createPublicKey(certificatePem)
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(password, 'utf8')).toString('base64')
}

/** The shortcode that pays by a rail. */
export const payerOf = (options: Pick<DarajaOptions, 'shortcode' | 'b2cShortcode' | 'b2bShortcode'>, rail: AnyRail): string =>
  (rail === 'MPESA_B2C' ? options.b2cShortcode : options.b2bShortcode) ?? options.shortcode

/** STK's Password: it proves knowledge of the passkey for this second. */
export const stkPassword = (shortcode: string, passkey: string, timestamp: string): string =>
  Buffer.from(`${shortcode}${passkey}${timestamp}`, 'utf8').toString('base64')

/** The gateway's answer when it did not accept the token; it has not processed the request then. */
const tokenRefusals = new Set(['401.002.01', '401.003.01', '404.001.03', '404.001.04'])

/** The token is good, and the app may not call this: "Invalid API call as no apiproduct match found". */
export const lacksProduct = (message: string | undefined): boolean => /apiproduct/i.test(message ?? '')

export const obtainToken = async (options: DarajaOptions): Promise<Token | NoToken> => {
  const basic = Buffer.from(`${options.consumerKey}:${options.consumerSecret}`, 'utf8').toString('base64')
  const answer = await exchange({
    method: 'GET',
    url: `${options.baseUrl}/oauth/v1/generate?grant_type=client_credentials`,
    headers: { authorization: `Basic ${basic}` },
    timeoutMs: options.timeoutMs,
  })
  // Seconds, as a text or a number.
  return readToken(answer, 'access_token', (body) => Number.parseInt(textField(body, 'expires_in') ?? '', 10))
}

export const connectDaraja = (options: DarajaOptions, deps: AdapterDeps): Send =>
  createGateway(
    {
      ...options,
      provider: 'MPESA',
      credentials: [options.baseUrl, options.consumerKey, options.consumerSecret],
      obtain: () => obtainToken(options),
      refusesToken: ({ body }) =>
        tokenRefusals.has(textField(body, 'errorCode') ?? '') && !lacksProduct(textField(body, 'errorMessage')),
    },
    deps,
  )
