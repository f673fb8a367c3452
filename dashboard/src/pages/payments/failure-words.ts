import type { Schemas } from '../../api/types.ts'
import { railNames } from '../../lib/rails.ts'

type Payment = Schemas['Payment']

/** For the codes that a person can do something about; everything else is told by the service's own sentence. */
const words: Readonly<Record<string, string>> = {
  policy_changed: 'The policies changed before it could be sent.',
}

/** Why it failed, in a sentence. Never a code. */
export const failureWords = (payment: Payment): string =>
  (payment.failure_code && words[payment.failure_code]) ??
  payment.failure_message ??
  `${railNames[payment.payment_rail]} did not accept this payment.`
