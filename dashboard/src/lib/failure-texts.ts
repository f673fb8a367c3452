import type { Schemas } from '../../../client/src/route-types.ts'
import { failureRow, isFailureCode } from '../../../src/errors/failures.ts'
import { failureText, t } from './language.ts'
import { providerLabelOf } from './rails.ts'

type Payment = Schemas['Payment']

/** Reason for a failure in the service's words, never a code. */

export const failureReason = (payment: Payment): string =>
  failureText(payment.failure_code)?.sentence ??
  payment.failure_message ??
  t('not_accepted', { provider: providerLabelOf(payment.payment_rail) })

/** Remedy for a failed payment or top-up; empty for an unknown code. */

export const failureRemedy = ({ failure_code: code }: { failure_code: string | null }): string => {
  if (code === null || !isFailureCode(code)) return ''
  const { actor, fix } = failureRow(code)
  return actor === 'operator' ? t('contact_support') : (failureText(code)?.fix ?? fix)
}
