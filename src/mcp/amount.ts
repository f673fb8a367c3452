import { z } from 'zod'
import { type FieldError, Refusal } from '../lib/errors.ts'
import { displayAmount, type Minor, minorPattern, readNonNegative } from '../lib/money.ts'
import { quoted } from '../lib/text.ts'

type AmountInput = { amount?: string | undefined; amount_minor?: string | undefined }

/** Rejects a text with a currency, because a model that names one may mean a different one. */
const readMajor = (amount: string): Minor | undefined => readNonNegative(amount, '')

const isMajor = (amount: string): boolean => readMajor(amount) !== undefined

/** An amount in major units, or in minor units as in the API's errors. A call that mixes up both is refused. */
export const amountInput = {
  amount: z
    .string()
    .refine(isMajor, 'must be digits with at most two decimals and no currency, such as "250.00"')
    .optional()
    .describe('In currency units: "250.00". Give this or amount_minor.'),
  amount_minor: z.string().optional().describe('In minor units: "25000".'),
}

/** Requires exactly one of the two fields, even if the order has other errors. */
export const withOneAmount = <Order extends z.ZodObject>(order: Order): Order =>
  order.refine((given) => Object.hasOwn(given, 'amount') !== Object.hasOwn(given, 'amount_minor'), {
    path: ['amount'],
    error: 'give either amount ("250.00") or amount_minor ("25000"), and not both',
    when: ({ value }) => typeof value === 'object' && value !== null,
  })

const toMinor = (text: string): Minor => {
  const [whole = '0', cents = ''] = text.replaceAll(',', '').split('.')
  return BigInt(whole + cents.padEnd(2, '0'))
}

const minorText = (amount: string): string | undefined => readMajor(amount)?.toString()

/** `KES 250.00`. An amount in any other form is shown as sent. */
export const minorAmountText = (amountMinor: string, currency: string): string =>
  minorPattern.test(amountMinor) ? displayAmount(BigInt(amountMinor), currency) : quoted(amountMinor)

/** `Fee: KES 15.00.` Undefined if there is no fee. */
export const feeText = (feeMinor: string, currency: string, name = 'Fee'): string | undefined =>
  feeMinor === '0' ? undefined : `${name}: ${displayAmount(BigInt(feeMinor), currency)}, in addition to the amount.`

/** Undefined if there is no fee. */
export const chargedFee = (feeMinor: string): string | undefined => (feeMinor === '0' ? undefined : feeMinor)

/** The amount of a refused order, or undefined if it has none. Invalid digits of `amount` are never shown as minor units. */
export const amountText = ({ amount, amount_minor }: Readonly<Record<string, unknown>>, currency: string): string | undefined => {
  if (amount_minor !== undefined) return minorAmountText(String(amount_minor), currency)
  if (amount === undefined) return undefined
  const minor = typeof amount === 'string' ? minorText(amount) : undefined
  return minor === undefined ? quoted(String(amount)) : minorAmountText(minor, currency)
}

/** The name of the amount field in an order. */
export const sentAmountField = (order: unknown): 'amount' | 'amount_minor' =>
  z.object({ amount: z.string(), amount_minor: z.never().optional() }).safeParse(order).success ? 'amount' : 'amount_minor'

/** Replaces the API's amount_minor with the field that the model sent. */
export const inSentWords = (text: string, order: unknown): string => text.replace(/\bamount_minor\b/g, sentAmountField(order))

/** Does the same for a refusal, and renames an argument that is a header in the API. */
export const refusalInSentWords = (refusal: Refusal, input: unknown): Refusal => {
  const { code, message, details = {}, headers = {} } = refusal
  const fields = details.fields as FieldError[] | undefined
  if (!fields) return refusal
  const withSentNames = (text: string) => inSentWords(text, input).replace(/\bIdempotency-Key\b/g, 'idempotency_key')
  const renamed = fields.map((field) => ({ ...field, path: withSentNames(field.path) }))
  return new Refusal(code, { message: withSentNames(message), details: { ...details, fields: renamed }, headers })
}

export const withMinor = <In extends AmountInput>({ amount, amount_minor, ...rest }: In) => ({
  ...rest,
  amount_minor: amount_minor ?? minorText(amount ?? '') ?? '',
})

/** In a text, only a number with a currency or two decimals is an amount. Other numbers may be invoice or house numbers. */
const amountPattern =
  /\b(?:KES|KSHS?|SHS?|shillings?)\.?\s*(\d[\d,]*(?:\.\d{1,2})?)|(\d[\d,]*(?:\.\d{1,2})?)\s*(?:KES|KSHS?|SHS?|shillings?|bob|\/[=-])|(?<![\d.,])(\d[\d,]*\.\d{2})(?![\d.])/giu

const readMinor = (text: string): Minor | undefined => (/^\d{1,17}$/.test(text) ? BigInt(text) : undefined)

/**
 * A sentence for the person, if the text contains amounts and none of them is the amount to pay. `isHundredfold`: one of them
 * is the amount times or divided by a hundred.
 */
export const conflictingAmount = (
  text: string | null | undefined,
  amountMinor: string,
  currency: string,
): { isHundredfold: boolean; sentence: string } | undefined => {
  const paid = readMinor(amountMinor)
  const amounts = [...(text ?? '').matchAll(amountPattern)]
    .flatMap(([, before, after, alone]) => before ?? after ?? alone ?? [])
    .map(toMinor)
  const [first] = amounts
  if (first === undefined || paid === undefined || amounts.includes(paid)) return undefined
  const slip = amounts.find((amount) => amount === paid * 100n || amount * 100n === paid)
  const sentence = `The narrative names ${displayAmount(slip ?? first, currency)}, but the amount is ${displayAmount(paid, currency)}`
  return { isHundredfold: slip !== undefined, sentence }
}
