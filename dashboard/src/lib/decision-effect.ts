import type { Schemas } from '../../../client/src/route-types.ts'
import { approvalSubject, type Choice, subjectWords } from './approval-subject.ts'
import { fullTime } from './time.ts'
import { countWords, moneyText } from './words.ts'

// What a decision does to what it is about, said before it and after it.

type Approval = Schemas['Approval']

const sentAtOf = (approval: Approval): string | null => approvalSubject(approval).sentAt

type Effect = 'again' | 'scheduled' | 'now'

const effectOf = (approval: Approval): Effect => {
  if (approval.approvals_given + 1 < approval.required_approvals) return 'again'
  return sentAtOf(approval) === null ? 'now' : 'scheduled'
}

const effectWords = (effect: Effect, approvals: readonly Approval[]): string => {
  const [only] = approvals
  const one = approvals.length === 1
  if (effect === 'now') return `${one ? 'is' : 'are'} sent and can’t be recalled.`
  const at = only && one ? sentAtOf(only) : null
  if (effect === 'again') {
    const before = at === null ? `before ${one ? 'it is' : 'they are'} sent` : `before ${fullTime(at)}, when it is due`
    return `${one ? 'needs' : 'need'} another approval after yours ${before}.`
  }
  const when = at === null ? 'at their times' : fullTime(at)
  return `${one ? 'is' : 'are'} sent ${when} if the limits and the balance allow it then, and can be cancelled until then.`
}

const approvalEffect = (approvals: readonly Approval[]): string =>
  (['again', 'scheduled', 'now'] as const)
    .map((effect) => ({ effect, those: approvals.filter((approval) => effectOf(approval) === effect) }))
    .filter(({ those }) => those.length > 0)
    .map(({ effect, those }) => {
      const all = approvals.length === 1 ? 'It' : 'They'
      return `${those.length === approvals.length ? all : `${those.length} of them`} ${effectWords(effect, those)}`
    })
    .join(' ')

const rejectionEffect = (approvals: readonly Approval[]): string => {
  const unheld = approvals.filter((approval) => sentAtOf(approval) !== null).length
  const [they, them] = approvals.length > 1 ? ['They', 'them'] : ['It', 'it']
  if (unheld === approvals.length) return `${they} won’t be sent. No money is held for ${them} yet.`
  return `${they} won’t be sent, and ${unheld === 0 ? 'the held amount' : 'what is held for them'} returns to the balance.`
}

export const effectOfChoice = (choice: Choice, approvals: readonly Approval[]): string =>
  choice === 'approve' ? approvalEffect(approvals) : rejectionEffect(approvals)

/** The result of a decision, from the service's answer: the first of two approvals sends nothing yet, and neither does the last one of what is scheduled. */
export const decidedWords = (approval: Approval): string => {
  const words = subjectWords(approval)
  const at = sentAtOf(approval)
  if (approval.status === 'approved')
    return `Approved: ${words} is ${at === null ? 'on its way' : `scheduled for ${fullTime(at)}`}`
  if (approval.status === 'rejected') return `Rejected: ${words} won’t be sent`
  return `Approval recorded: ${approval.approvals_given} of ${countWords(approval.required_approvals, 'approval')}`
}

/** What the payment, or the whole list, leaves in the account. */
export const balanceWords = (approval: Approval): string | null => {
  const { currency, sentAt } = approvalSubject(approval)
  const left = approval.context?.available_after_minor
  if (left === undefined) return null
  if (sentAt === null) return `${moneyText(left, currency)} left in the account afterwards.`
  return left.startsWith('-')
    ? `Today’s balance does not cover it: ${moneyText(left.slice(1), currency)} is missing.`
    : `${moneyText(left, currency)} of today’s balance left afterwards. No money is held until it is sent.`
}
