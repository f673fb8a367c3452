import { z } from 'zod'
import { displayAmount, minorPattern } from '../lib/money.ts'
import { isolated } from '../lib/text.ts'
import type { Caller } from './tool.ts'

export const WirePayee = z.object({ display_name: z.string(), destination_mask: z.string() })
export type WirePayee = z.output<typeof WirePayee>

/** "Wanjiru Kamau (****0111)". */
export const payeeText = ({ display_name, destination_mask }: WirePayee): string =>
  `${isolated(display_name)} (${destination_mask.replace(/^\*+/, '****')})`

/** "KES 250.00 to Wanjiru Kamau (****0111)": what a person compares with what they meant. An amount in another form stands as it was sent. */
export const headline = (amountMinor: string, currency: string, payee: string): string => {
  const amount = minorPattern.test(amountMinor) ? displayAmount(BigInt(amountMinor), currency) : JSON.stringify(amountMinor)
  return `${amount} to ${payee}`
}

/** For a payment that does not exist. Whatever the caller may read: without beneficiary.read it knows the payee only by its id. */
export const askedFor = async (caller: Caller, order: { amount_minor: string; beneficiary_id: string }): Promise<string> => {
  const { status, body } = await caller.call({
    method: 'GET',
    path: `/v1/beneficiaries/${encodeURIComponent(order.beneficiary_id)}`,
  })
  const payee = status === 200 ? payeeText(WirePayee.parse(body)) : JSON.stringify(order.beneficiary_id)
  return headline(order.amount_minor, caller.currency, payee)
}
