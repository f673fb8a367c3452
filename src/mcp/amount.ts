import { z } from 'zod'
import { invalidFields } from '../lib/errors.ts'
import { displayAmount, type Minor } from '../lib/money.ts'

/** An amount is given as people write it, or in minor units. A model that mixes them up is refused, never guessed at. */
export const amountInput = {
  amount: z.string().optional().describe('In currency units: "250.00". Give this or amount_minor.'),
  amount_minor: z.string().optional().describe('The same in minor units: "25000".'),
}
type AmountInput = { amount?: string | undefined; amount_minor?: string | undefined }

const major = /^(\d{1,15}|\d{1,3}(?:,\d{3})+)(?:\.\d{1,2})?$/

const toMinor = (text: string): Minor => {
  const [whole = '0', cents = ''] = text.replaceAll(',', '').split('.')
  return BigInt(whole + cents.padEnd(2, '0'))
}

const minorText = (amount: string): string | undefined => (major.test(amount.trim()) ? String(toMinor(amount.trim())) : undefined)

/** The API itself says what is wrong with `amount_minor`. */
export const minorOf = ({ amount, amount_minor }: AmountInput): string => {
  if ((amount === undefined) === (amount_minor === undefined))
    throw invalidFields({ path: 'amount', message: 'give either amount ("250.00") or amount_minor ("25000"), and not both' })
  if (amount_minor !== undefined) return amount_minor
  const minor = minorText(amount ?? '')
  if (minor === undefined)
    throw invalidFields({ path: 'amount', message: 'must be digits with at most two decimals and no currency, such as "250.00"' })
  return minor
}

/** Of an order that was refused: in minor units where it can be read, else as it came. */
export const amountText = ({ amount, amount_minor }: Readonly<Record<string, unknown>>): string => {
  const minor = typeof amount === 'string' && amount_minor === undefined ? minorText(amount) : undefined
  return minor ?? String(amount_minor ?? amount ?? 'no amount')
}

export const withMinor = <In extends AmountInput>({ amount, amount_minor, ...rest }: In) => ({
  ...rest,
  amount_minor: minorOf({ amount, amount_minor }),
})

/** An amount in a text has a currency, or two decimals: any other number may be that of an invoice or a house. */
const named =
  /\b(?:KES|KSHS?|SHS?|shillings?)\.?\s*(\d[\d,]*(?:\.\d{1,2})?)|(\d[\d,]*(?:\.\d{1,2})?)\s*(?:KES|KSHS?|SHS?|shillings?|bob|\/[=-])|(?<![\d.,])(\d[\d,]*\.\d{2})(?![\d.])/giu

const readMinor = (text: string): Minor | undefined => (/^\d{1,17}$/.test(text) ? BigInt(text) : undefined)

/**
 * What to tell a person where the text names amounts and none of them is paid. `isSlip`: one is a hundred times what is paid, or
 * a hundredth.
 */
export const otherAmountIn = (
  text: string | null | undefined,
  amountMinor: string,
  currency: string,
): { isSlip: boolean; sentence: string } | undefined => {
  const paid = readMinor(amountMinor)
  const amounts = [...(text ?? '').matchAll(named)]
    .flatMap(([, before, after, alone]) => before ?? after ?? alone ?? [])
    .map(toMinor)
  const [first] = amounts
  if (first === undefined || paid === undefined || amounts.includes(paid)) return undefined
  const slip = amounts.find((amount) => amount === paid * 100n || amount * 100n === paid)
  const sentence = `The narrative names ${displayAmount(slip ?? first, currency)}, and the amount is ${displayAmount(paid, currency)}`
  return { isSlip: slip !== undefined, sentence }
}
