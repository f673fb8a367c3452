import type { LookupFunction } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import type { Minor } from '../../lib/money.ts'
import type { RailLimits } from '../rail.ts'

/** One Daraja application with its shortcodes and its initiator. Everything comes from configuration; nothing is guessed. */
export type DarajaOptions = {
  baseUrl: string
  consumerKey: string
  consumerSecret: string
  /** The shortcode that collects (STK). */
  shortcode: string
  passkey: string
  /** Buy-goods collections name the till as PartyB while `shortcode` is the head office; default: the shortcode itself. */
  tillNumber?: string
  transactionType: 'CustomerPayBillOnline' | 'CustomerBuyGoodsOnline'
  /** The shortcodes that pay out; default: `shortcode`. */
  b2cShortcode?: string
  b2bShortcode?: string
  b2cCommand?: 'SalaryPayment' | 'BusinessPayment' | 'PromotionPayment'
  initiatorName: string
  /** Expires 90 days after it was set at the provider. */
  initiatorPassword: string
  /** The environment's certificate, or its public key. */
  certificatePem: string
  /** The documentation says "4" for every receiver; production systems have been seen to send "2" for tills. */
  tillIdentifierType: '2' | '4'
  timeoutMs: number
  b2bMinMinor?: Minor
  b2bMaxMinor?: Minor
}

export type DarajaDeps = { clock: Clock; lookup?: LookupFunction }

const shillings = (amount: bigint): Minor => amount * 100n

export const stkLimits: RailLimits = { minMinor: shillings(1n), maxMinor: shillings(250_000n), wholeUnits: true }
export const b2cLimits: RailLimits = { minMinor: shillings(10n), maxMinor: shillings(250_000n), wholeUnits: true }

export const b2bLimits = (options: Pick<DarajaOptions, 'b2bMinMinor' | 'b2bMaxMinor'>): RailLimits => ({
  minMinor: options.b2bMinMinor ?? shillings(1n),
  maxMinor: options.b2bMaxMinor ?? shillings(250_000n),
  wholeUnits: true,
})
