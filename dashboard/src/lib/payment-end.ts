import type { Schemas } from '../../../client/src/route-types.ts'
import { unheldFailures, unsentFailures } from '../../../src/errors/failures.ts'
import { t } from './language.ts'

type Payment = Pick<Schemas['Payment'], 'status' | 'failure_code' | 'execute_at' | 'completed_at' | 'approval_id'>

/** Whether a payment that has ended was given to its provider. */
export const wasSent = ({ status, failure_code: code }: Pick<Payment, 'status' | 'failure_code'>): boolean =>
  status === 'succeeded' || (status === 'failed' && (code === null || !unsentFailures.includes(code)))

/**
 * Whether money was held for a payment that has ended unpaid. What is scheduled holds nothing until its time. Null: it ended behind its time, where the
 * payment does not say whether it was held by then.
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

/** What became of the amount of a payment that has ended unpaid; empty where it is not known. */
export const heldWords = (payment: Payment): string => {
  const held = wasHeld(payment)
  if (held === null) return ''
  return t(held ? 'end.returned' : 'end.none_held')
}

export const failedTitle = (payment: Payment): string => {
  const held = wasHeld(payment)
  return t(held === null ? 'end.failed' : held ? 'end.failed_back' : 'end.failed_none')
}
