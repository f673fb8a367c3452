import type { Clock } from '../../lib/clock.ts'
import type { ShareToken } from '../token-cache.ts'

/** One Daraja application with its shortcodes and its initiator. Everything comes from configuration; nothing is guessed. */
export type DarajaOptions = {
  baseUrl: string
  consumerKey: string
  consumerSecret: string
  /** The shortcode that collects (STK): a paybill, or the store or head office of a till. */
  shortcode: string
  passkey: string
  transactionType: 'CustomerPayBillOnline' | 'CustomerBuyGoodsOnline'
  /** Who is paid by a prompt; default: `shortcode`. The passkey, queries and lists stay those of `shortcode`. */
  tillNumber?: string
  /** The shortcodes that pay out; default: `shortcode`. */
  b2cShortcode?: string
  b2bShortcode?: string
  initiatorName: string
  /** Expires 90 days after it was set at the provider. */
  initiatorPassword: string
  /** The environment's certificate, or its public key. */
  certificatePem: string
  /** The documentation says "4" for every receiver; production systems have been seen to send "2" for tills. */
  tillIdentifierType: '2' | '4'
  timeoutMs: number
  /** Payments by persons to our paybill; null: switched off. `unanswered`: what M-PESA does when our validation does not answer. */
  deposits: {
    shortcode: string
    unanswered: 'Completed' | 'Cancelled'
    /** C2B's version 1 and 2 are two products: an app has one of them. */
    version: '1' | '2'
    /** The phone for which the list of payments is registered; null: it is registered otherwise. */
    pullNumber: string | null
  } | null
}

export type DarajaDeps = { clock: Clock; shareToken?: ShareToken }
