import { z } from 'zod'
import { displayAmount, minorPattern } from '../lib/money.ts'
import { quoted } from '../lib/text.ts'

export const WirePayee = z.object({ display_name: z.string(), destination_mask: z.string() })
export type WirePayee = z.output<typeof WirePayee>

/** `"Wanjiru Kamau" (****0111)`. */
export const payeeText = ({ display_name, destination_mask }: WirePayee): string =>
  `${quoted(display_name)} (${destination_mask.replace(/^\*+/, '****')})`

/** `KES 250.00 to "Wanjiru Kamau" (****0111)`: what a person compares with what they meant. An amount in another form stands as it was sent. */
export const headline = (amountMinor: string, currency: string, payee: string): string => {
  const amount = minorPattern.test(amountMinor) ? displayAmount(BigInt(amountMinor), currency) : quoted(amountMinor)
  return `${amount} to ${payee}`
}

/** For a payment that does not exist. A caller that may not read beneficiaries knows the payee only by its id. */
export const askedFor = (
  order: { amount_minor: string; beneficiary_id: string },
  payee: WirePayee | undefined,
  currency: string,
): string => headline(order.amount_minor, currency, payee ? payeeText(payee) : quoted(order.beneficiary_id))
