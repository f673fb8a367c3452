import { UsageError } from './errors.ts'

const major = /^(\d{1,15}|\d{1,3}(?:,\d{3})+)\.(\d{2})$/

/** Converts to minor units. Rejects whole numbers, which could mean either unit. */
export const minorOf = (text: string): string => {
  const [, whole, cents] = major.exec(text) ?? []
  if (whole !== undefined && cents !== undefined) return String(BigInt(whole.replaceAll(',', '') + cents))
  throw new UsageError(
    /^\d+$/.test(text) ? `Write the amount with its cents: ${text}.00` : 'Give the amount with its cents, such as 250.00',
  )
}

export const amountText = (minor: string, currency: string): string => {
  const digits = minor.padStart(3, '0')
  return `${currency} ${digits.slice(0, -2).replace(/\B(?=(\d{3})+(?!\d))/g, ',')}.${digits.slice(-2)}`
}

/** Formats a payee: "Wanjiru Kamau (****0111)". */
export const payeeText = (payee: { display_name: string; destination_mask: string }): string =>
  `${payee.display_name} (${payee.destination_mask.replace(/^\*+/, '****')})`

export const paymentText = (payment: {
  amount_minor: string
  currency: string
  beneficiary: { display_name: string; destination_mask: string }
}): string => `${amountText(payment.amount_minor, payment.currency)} to ${payeeText(payment.beneficiary)}`

export const resultText = (
  payment: Parameters<typeof paymentText>[0] & {
    status: string
    failure_message: string | null
    provider_receipt: string | null
  },
): string => {
  const why = payment.failure_message ?? payment.provider_receipt
  return `${paymentText(payment)}, ${payment.status.replaceAll('_', ' ')}${why === null ? '' : `: ${why}`}`
}
