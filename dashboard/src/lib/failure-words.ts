import { failureRow, isFailureCode } from '../../../src/errors/failures.ts'
import type { Schemas } from '../api/queries.ts'
import { providerOf } from './rails.ts'

type Payment = Schemas['Payment']

/** Why it failed, in the service's sentence. Never a code. */
export const failureWords = (payment: Payment): string =>
  payment.failure_message ?? `${providerOf(payment.payment_rail)} did not accept this payment.`

/** What can be done about it, for payments and top-ups; empty where the code is not known. */
export const failureFix = ({ failure_code: code }: { failure_code: string | null }): string => {
  if (code === null || !isFailureCode(code)) return ''
  const { actor, fix } = failureRow(code)
  return actor === 'operator' ? 'Contact support.' : fix
}
