import { z } from 'zod'
import { type FieldError, Refusal } from '../lib/errors.ts'
import { displayAmount, type Minor, minorPattern, readPositive } from '../lib/money.ts'
import { quoted } from '../lib/text.ts'

type AmountInput = { amount?: string | undefined; amount_minor?: string | undefined }

/** The currency is empty, because a model that names one may mean another one. */
const readMajor = (amount: string): Minor | undefined => readPositive(amount, '')

const isMajor = (amount: string): boolean => readMajor(amount) !== undefined

/** An amount in major units as people write it, or in minor units. The API itself reports errors in minor units. A call that mixes them up is refused. */
export const amountInput = {
  amount: z
    .string()
    .refine(isMajor, 'must be digits with at most two decimals and no currency, such as "250.00"')
    .optional()
    .describe('In currency units: "250.00". Give this or amount_minor.'),
  amount_minor: z.string().optional().describe('In minor units: "25000".'),
}

/** Checks each order that has these fields, even if it has other errors. */
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

/** `KES 250.00`. An amount in another form is shown as it was sent. */
export const minorAmountText = (amountMinor: string, currency: string): string =>
  minorPattern.test(amountMinor) ? displayAmount(BigInt(amountMinor), currency) : quoted(amountMinor)

/** `Fee: KES 15.00.` Undefined if nothing is charged. */
export const feeText = (feeMinor: string, currency: string, name = 'Fee'): string | undefined =>
  feeMinor === '0' ? undefined : `${name}: ${displayAmount(BigInt(feeMinor), currency)}, in addition to the amount.`

/** Left out if nothing is charged. */
export const chargedFee = (feeMinor: string): string | undefined => (feeMinor === '0' ? undefined : feeMinor)

/** A refused order's amount; undefined if it has none. Unreadable digits of `amount` are never shown as minor units. */
export const amountText = ({ amount, amount_minor }: Readonly<Record<string, unknown>>, currency: string): string | undefined => {
  if (amount_minor !== undefined) return minorAmountText(String(amount_minor), currency)
  if (amount === undefined) return undefined
  const minor = typeof amount === 'string' ? minorText(amount) : undefined
  return minor === undefined ? quoted(String(amount)) : minorAmountText(minor, currency)
}

/** The name of the field in which an order has its amount. */
export const amountName = (order: unknown): 'amount' | 'amount_minor' =>
  z.object({ amount: z.string(), amount_minor: z.never().optional() }).safeParse(order).success ? 'amount' : 'amount_minor'

/** Renames the API's amount_minor to the field that the model sent. */
export const wordsAsSent = (text: string, order: unknown): string => text.replace(/\bamount_minor\b/g, amountName(order))

/** The same for a refusal, which also names an argument that is a header in the API. */
export const asSent = (refusal: Refusal, input: unknown): Refusal => {
  const { code, message, details = {}, headers = {} } = refusal
  const fields = details.fields as FieldError[] | undefined
  if (!fields) return refusal
  const named = (text: string) => wordsAsSent(text, input).replace(/\bIdempotency-Key\b/g, 'idempotency_key')
  const renamed = fields.map((field) => ({ ...field, path: named(field.path) }))
  return new Refusal(code, { message: named(message), details: { ...details, fields: renamed }, headers })
}

export const withMinor = <In extends AmountInput>({ amount, amount_minor, ...rest }: In) => ({
  ...rest,
  amount_minor: amount_minor ?? minorText(amount ?? '') ?? '',
})

/** An amount in a text has a currency or two decimals: any other number may be an invoice's or a house's. */
const named =
  /\b(?:KES|KSHS?|SHS?|shillings?)\.?\s*(\d[\d,]*(?:\.\d{1,2})?)|(\d[\d,]*(?:\.\d{1,2})?)\s*(?:KES|KSHS?|SHS?|shillings?|bob|\/[=-])|(?<![\d.,])(\d[\d,]*\.\d{2})(?![\d.])/giu

const readMinor = (text: string): Minor | undefined => (/^\d{1,17}$/.test(text) ? BigInt(text) : undefined)

/**
 * A sentence for the person if the text names amounts, none of which is paid. `isSlip`: one of them is a hundred times the paid
 * amount, or a hundredth.
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
  const sentence = `The narrative names ${displayAmount(slip ?? first, currency)}, but the amount is ${displayAmount(paid, currency)}`
  return { isSlip: slip !== undefined, sentence }
}
