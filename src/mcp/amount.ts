import { z } from 'zod'
import { type FieldError, invalidFields, Refusal } from '../lib/errors.ts'
import { displayAmount, type Minor, minorPattern } from '../lib/money.ts'
import { quoted } from '../lib/text.ts'

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

/** `KES 250.00`. An amount in another form stands as it was sent. */
export const minorAmountText = (amountMinor: string, currency: string): string =>
  minorPattern.test(amountMinor) ? displayAmount(BigInt(amountMinor), currency) : quoted(amountMinor)

/** Of an order that was refused. Digits that are not read as `amount` are never shown as minor units. */
export const amountText = ({ amount, amount_minor }: Readonly<Record<string, unknown>>, currency: string): string => {
  if (amount_minor !== undefined) return minorAmountText(String(amount_minor), currency)
  const minor = typeof amount === 'string' ? minorText(amount) : undefined
  return minor === undefined ? quoted(String(amount ?? 'no amount')) : minorAmountText(minor, currency)
}

/** Under which name an order has its amount. */
export const amountName = (order: unknown): 'amount' | 'amount_minor' =>
  z.object({ amount: z.string() }).safeParse(order).success ? 'amount' : 'amount_minor'

/** The API knows amount_minor alone: a model that sent `amount` is told of `amount`. */
export const asSent = (refusal: Refusal, input: unknown): Refusal => {
  const { code, message, details = {}, headers = {} } = refusal
  const fields = details.fields as FieldError[] | undefined
  if (!fields || amountName(input) === 'amount_minor') return refusal
  const named = (text: string) => text.replace(/\bamount_minor\b/g, 'amount')
  const renamed = fields.map((field) => ({ ...field, path: named(field.path) }))
  return new Refusal(code, { message: named(message), details: { ...details, fields: renamed }, headers })
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
