import type { DuplicateAnswer, NewPayeeAnswer, PayeeVerificationAnswer } from '../../../src/lib/policy-answers.ts'

type RuleAnswer = DuplicateAnswer | NewPayeeAnswer | PayeeVerificationAnswer

/** What a rule gives a payment, as a choice in a form and as a fact. */
export const answerWords: Readonly<Record<RuleAnswer, string>> = {
  off: 'No warning',
  allow: 'Pay without asking',
  warn: 'Pay with a warning',
  confirm: 'Refuse unless a second is meant',
  require_approval: 'Require approval',
  deny: 'Refuse',
}

export const answerOptions = <Answer extends RuleAnswer>(answers: readonly Answer[]) =>
  answers.map((value) => ({ value, label: answerWords[value] }))
