import type { Schemas } from '../../../client/src/route-types.ts'
import { approvalSubject, type Choice, subjectWords } from './approval-subject.ts'
import { t } from './language.ts'
import { fullTime } from './time.ts'
import { moneyText } from './words.ts'

// Texts about the effect of a decision: one before it, one after it.

type Approval = Schemas['Approval']

const sentAtOf = (approval: Approval): string | null => approvalSubject(approval).sentAt

type Effect = 'again' | 'scheduled' | 'now'

const effectOf = (approval: Approval): Effect => {
  if (approval.approvals_given + 1 < approval.required_approvals) return 'again'
  return sentAtOf(approval) === null ? 'now' : 'scheduled'
}

const effectWords = (effect: Effect, who: string, approvals: readonly Approval[]): string => {
  const [only] = approvals
  const count = approvals.length
  const due = only && count === 1 ? sentAtOf(only) : null
  const at = due === null ? t('effect.at_their_times') : fullTime(due)
  return t(effect === 'again' && due !== null ? 'effect.again_due' : `effect.${effect}`, { who, count, at })
}

const approvalEffect = (approvals: readonly Approval[]): string =>
  (['again', 'scheduled', 'now'] as const)
    .map((effect) => ({ effect, group: approvals.filter((approval) => effectOf(approval) === effect) }))
    .filter(({ group }) => group.length > 0)
    .map(({ effect, group }) =>
      effectWords(effect, t(group.length === approvals.length ? 'effect.all' : 'effect.some', { count: group.length }), group),
    )
    .join(' ')

const rejectionEffect = (approvals: readonly Approval[]): string => {
  const unheld = approvals.filter((approval) => sentAtOf(approval) !== null).length
  const count = approvals.length
  if (unheld === count) return t('effect.unsent', { count })
  return unheld === 0 ? t('effect.unsent_held', { who: t('effect.all', { count }) }) : t('effect.unsent_some')
}

export const effectOfChoice = (choice: Choice, approvals: readonly Approval[]): string =>
  choice === 'approve' ? approvalEffect(approvals) : rejectionEffect(approvals)

/** Status of an approval after a decision. `failed`: it was approved, and what it approved failed in the same moment. */
export const outcomeOf = ({ status, payment, batch }: Approval): Approval['status'] | 'failed' =>
  status === 'approved' && (payment ?? batch)?.status === 'failed' ? 'failed' : status

/** Result of a decision. The first of two approvals sends nothing yet, nor does the last one of a scheduled payment. */
export const decidedWords = (approval: Approval): string => {
  const what = subjectWords(approval)
  const at = sentAtOf(approval)
  const outcome = outcomeOf(approval)
  if (outcome === 'failed') return t('decided.failed', { what })
  if (outcome === 'approved')
    return at === null ? t('decided.on_its_way', { what }) : t('decided.scheduled', { what, at: fullTime(at) })
  if (outcome === 'rejected') return t('decided.rejected', { what })
  return t('decided.recorded', { given: approval.approvals_given, count: approval.required_approvals })
}

/** Balance that the payment or batch leaves. Null if this person may not see the balance. */
export const balanceWords = (approval: Approval): string | null => {
  const { currency, sentAt } = approvalSubject(approval)
  const left = approval.context?.available_after_minor
  if (left == null) return null
  const amount = moneyText(sentAt === null ? left : left.replace('-', ''), currency)
  return t(sentAt === null ? 'left_after' : left.startsWith('-') ? 'left_missing' : 'left_today', { amount })
}
