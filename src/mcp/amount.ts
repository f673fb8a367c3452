import { z } from 'zod'
import { invalidFields } from '../lib/errors.ts'
import { displayAmount, type Minor } from '../lib/money.ts'

/** How a tool takes an amount: as people write it, or in minor units. A model that mixes them up is refused, never guessed at. */
export const amountInput = {
  amount: z.string().optional().describe('In whole currency units with two decimals: "250.00". Give this or amount_minor.'),
  amount_minor: z.string().optional().describe('The same in minor units (cents): "25000".'),
}

const major = /^(\d{1,15}|\d{1,3}(?:,\d{3})+)(?:\.(\d{1,2}))?$/

/** In minor units, as the API takes them: it says what is wrong with `amount_minor` itself. */
export const minorOf = ({ amount, amount_minor }: { amount?: string | undefined; amount_minor?: string | undefined }): string => {
  if ((amount === undefined) === (amount_minor === undefined))
    throw invalidFields({ path: 'amount', message: 'give either amount ("250.00") or amount_minor ("25000"), and not both' })
  if (amount_minor !== undefined) return amount_minor
  const [, whole, cents = ''] = major.exec(amount?.trim() ?? '') ?? []
  if (whole === undefined)
    throw invalidFields({ path: 'amount', message: 'must be digits with at most two decimals and no currency, such as "250.00"' })
  return String(BigInt(whole.replaceAll(',', '') + cents.padEnd(2, '0')))
}

const named =
  /(?:\bKES|\bKSHS?\b\.?|\bSHS?\b\.?|\bshillings?)\s*(\d[\d,]*(?:\.\d{1,2})?)|(\d[\d,]*(?:\.\d{1,2})?)\s*(?:KES|KSHS?|shillings?|\/=)/giu

const toMinor = (text: string): Minor => {
  const [whole = '0', cents = ''] = text.replaceAll(',', '').split('.')
  return BigInt(whole + cents.padEnd(2, '0'))
}

/** What to tell a person where the text names amounts and none of them is paid: a slip between shillings and cents, or an instruction. */
export const otherAmountIn = (text: string | null | undefined, paid: Minor, currency: string): string | undefined => {
  const amounts = [...(text ?? '').matchAll(named)].flatMap(([, before, after]) => before ?? after ?? []).map(toMinor)
  const [first] = amounts
  if (first === undefined || amounts.includes(paid)) return undefined
  return `The narrative names ${displayAmount(first, currency)}, and the amount is ${displayAmount(paid, currency)}: tell the person.`
}
