import type { Schemas } from '../../../client/src/route-types.ts'
import { unheldFailures, unsentFailures } from '../../../src/errors/failures.ts'
import { t } from './language.ts'

type Payment = Pick<Schemas['Payment'], 'status' | 'failure_code' | 'execute_at' | 'completed_at' | 'approval_id'>

/** Whether an ended payment had been sent to its provider. */
export const wasSent = ({ status, failure_code: code }: Pick<Payment, 'status' | 'failure_code'>): boolean =>
  status === 'succeeded' || (status === 'failed' && (code === null || !unsentFailures.includes(code)))

/**
 * Whether money was held for a payment that ended unpaid. A scheduled payment holds nothing until its time. Null: it ended
 * after that time and does not say whether money was held.
 */
const wasHeld = ({
  status,
  failure_code: code,
  execute_at: due,
  completed_at: at,
  approval_id: approval,
}: Payment): boolean | null => {
  if (due === null) return true
  if (code !== null && unheldFailures.includes(code)) return false
  if (at !== null && Date.parse(at) < Date.parse(due)) return false
  if (status === 'cancelled') return approval === null ? false : null
  return code === 'policy_changed' ? null : true
}

/** Sentence about the money of a payment that ended unpaid. Empty if it is unknown whether money was held. */
export const heldWords = (payment: Payment): string => {
  const held = wasHeld(payment)
  if (held === null) return ''
  return t(held ? 'end.returned' : 'end.none_held')
}

export const failedTitle = (payment: Payment): string => {
  const held = wasHeld(payment)
  return t(held === null ? 'end.failed' : held ? 'end.failed_back' : 'end.failed_none')
}
