import { isoTime } from './clock.ts'
import { displayAmount, type Minor } from './money.ts'

/** Ids in the API's form. */
export type StatedLimits = {
  maxTotalMinor: Minor
  maxPerPaymentMinor: Minor | null
  maxPayments: number | null
  beneficiaries: readonly string[]
  paymentTypes: readonly string[]
  grant: string | null
  expiresAt: Date
}

const listed = (name: string, items: readonly string[]): string[] =>
  items.length === 0 ? [`${name}: any`] : [`${name}:`, ...items.map((item) => `- ${item}`)]

const amount = (minor: Minor, currency: string): string => `${displayAmount(minor, currency)} (${minor} minor units)`

/** Lines of the text that a wallet signs, which receipt verifiers also parse. `what` contains no empty lines. */
export const limitLines = (limits: StatedLimits, currency: string): { what: string[]; who: string; until: string } => {
  const { maxTotalMinor, maxPerPaymentMinor, maxPayments, beneficiaries, paymentTypes, grant, expiresAt } = limits
  return {
    what: [
      `At most in total: ${amount(maxTotalMinor, currency)}`,
      `At most for one payment: ${maxPerPaymentMinor === null ? 'no limit of its own' : amount(maxPerPaymentMinor, currency)}`,
      `At most this many payments: ${maxPayments ?? 'any number'}`,
      ...listed('Beneficiaries', beneficiaries),
      ...listed('Payment types', paymentTypes),
    ],
    who: `For payments by: ${grant === null ? 'your own account' : `the grant ${grant} and those below it`}`,
    until: `Valid until: ${isoTime(expiresAt)}`,
  }
}
