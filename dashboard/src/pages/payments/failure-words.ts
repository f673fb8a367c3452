import type { Schemas } from '../../api/types.ts'
import { providerOf } from '../../lib/rails.ts'

type Payment = Schemas['Payment']

/** Sentences for codes that the dashboard can explain better; for the others the service's own sentence is used. */
const words: Readonly<Record<string, string>> = {
  policy_changed: 'The policies changed before it could be sent.',
}

/** Why it failed, in a sentence. Never a code. */
export const failureWords = (payment: Payment): string =>
  (payment.failure_code && words[payment.failure_code]) ??
  payment.failure_message ??
  `${providerOf(payment.payment_rail)} did not accept this payment.`
