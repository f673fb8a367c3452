import { t } from './language.ts'

/** Parts of a signed text: its opening, the lines of the decision, and the last lines, which bind the decision. */
export type SignedText = { opening: string; lines: string[]; binding: string[] }

/** Splits the text at blank lines, without knowing any line by name, so that each line is in one of the parts. */
export const readSignedText = (message: string): SignedText => {
  const [opening = '', ...parts] = message.split(/\n\n+/)
  const binding = parts.length > 1 ? (parts.pop() ?? '') : ''
  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')
  return { opening, lines: parts.flatMap(linesOf), binding: linesOf(binding) }
}

const textOf = (message: string, label: string): string | undefined =>
  message
    .split('\n')
    .find((line) => line.startsWith(`${label}: `))
    ?.slice(label.length + 2)

const short = (amount: string): string => amount.replace(/\.00$/, '').replace(' ', '\u00a0')

/** "KES 23,499 to Savannah Supplies", "KES 502,899 to 200 people", or the opening of any other text. */
export const titleOfText = (message: string): string => {
  const amount = textOf(message, 'Amount')
  const beneficiary = textOf(message, 'Beneficiary')
  if (amount && beneficiary) return t('to_payee', { amount: short(amount), payee: beneficiary })
  const total = textOf(message, 'Total')
  const payees = textOf(message, 'Payees') ?? textOf(message, 'Payments')
  if (total && payees) return t('to_people', { amount: short(total), count: Number(payees.replaceAll(',', '')) })
  return readSignedText(message).opening
}
