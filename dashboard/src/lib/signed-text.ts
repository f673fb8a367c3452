import { t } from './language.ts'

/** Parts of a signed text: its opening, the lines of the decision, and the last lines, which bind the decision. */
export type SignedText = { opening: string; lines: string[]; binding: string[] }

/** Splits at blank lines and knows no line by name, so that no line of a new kind can be left out. */
export const readSignedText = (message: string): SignedText => {
  const [opening = '', ...parts] = message.split(/\n\n+/)
  const binding = parts.length > 1 ? (parts.pop() ?? '') : ''
  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')
  return { opening, lines: parts.flatMap(linesOf), binding: linesOf(binding) }
}

const valueOfLine = (message: string, label: string): string | undefined =>
  message
    .split('\n')
    .find((line) => line.startsWith(`${label}: `))
    ?.slice(label.length + 2)

/** "KES 23,499.00" → "KES 23,499". */
const shortAmount = (amount: string): string => amount.replace(/\.00$/, '').replace(' ', '\u00a0')

/** "KES 23,499 to Savannah Supplies", "KES 502,899 to 200 people", or the opening of any other text. */
export const titleOfText = (message: string): string => {
  const amount = valueOfLine(message, 'Amount')
  const beneficiary = valueOfLine(message, 'Beneficiary')
  if (amount && beneficiary) return t('to_payee', { amount: shortAmount(amount), payee: beneficiary })
  const total = valueOfLine(message, 'Total')
  const payees = valueOfLine(message, 'Payees')
  if (total && payees) return t('to_people', { amount: shortAmount(total), count: Number(payees.replaceAll(',', '')) })
  return readSignedText(message).opening
}
