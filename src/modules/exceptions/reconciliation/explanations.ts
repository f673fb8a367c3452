import { displayAmount, type Minor } from '../../../lib/money.ts'
import { nairobiDate } from '../../../rails/fields.ts'
import type { Booked } from './booking-index.ts'
import type { StatementLine } from './statement-rules.ts'

const statementDifferences = [
  'amount_differs',
  'not_in_statement',
  'not_in_our_books',
  'ended_otherwise',
  'under_way',
  'listed_twice',
  'reversed',
  'outcome_unknown',
] as const
export const differenceKinds = [...statementDifferences, 'balance_differs'] as const

export const amountText = (amount: Minor, currency: string): string => displayAmount(amount < 0n ? -amount : amount, currency)

export const actionsOfOffers = {
  succeeded: 'Accept the outcome: the payment has succeeded with this receipt.',
  failed: 'Accept the outcome: the payment has failed, and its money is given back.',
  none: 'Read the lines of this amount, this payee or this payment, then resolve the payment with what they show.',
} as const

const nouns = { payment: 'payment', topup: 'top-up', deposit: 'deposit' } as const
const nounOf = (ours: Booked | null): string => nouns[ours?.kind ?? 'payment']

export type Explanation = { reason: string; action: string }

export type StatementDifference = (typeof statementDifferences)[number]

export const explain: Readonly<
  Record<StatementDifference, (line: StatementLine | null, ours: Booked | null, currency: string) => Explanation>
> = {
  amount_differs: (line, ours, currency) => ({
    reason: `The statement shows ${amountText(line?.amountMinor ?? 0n, currency)}, our books ${amountText(ours?.amountMinor ?? 0n, currency)}.`,
    action: 'Ask the provider which is right, then correct our books by an adjustment.',
  }),
  not_in_statement: () => ({
    reason: 'Our books have it as moved, and the statement does not list it.',
    action: 'Ask the provider about the receipt. If the money did not move, correct our books by an adjustment.',
  }),
  not_in_our_books: (line) => ({
    reason: `The statement lists ${line?.details === undefined ? 'it' : `"${line.details}" of ${nairobiDate(line.at)}`}${line?.linked === undefined ? '' : ` as undoing ${line.linked}`}, and nothing here was sent with its receipt or reference.`,
    action:
      line?.receipt === null
        ? 'Find out who moved it at the bank. Nothing was booked: the line names no receipt.'
        : 'Find out who moved it at the provider. Until then it stands on the suspense account.',
  }),
  ended_otherwise: (_line, ours) => ({
    reason: `The statement shows that the money moved, and here the ${nounOf(ours)} is ${ours?.status ?? 'ended'}.`,
    action:
      'Nothing, if this is resolved: the statement was taken as evidence. While it is open, resolve the late success, or adjust the account, unless an earlier adjustment has booked it.',
  }),
  under_way: (line, ours, currency) => ({
    reason:
      line && ours && line.amountMinor !== ours.amountMinor
        ? `The statement shows ${amountText(line.amountMinor, currency)} for a ${nounOf(ours)} of ${amountText(ours.amountMinor, currency)} that is ${ours.status} here.`
        : `The statement shows the end of a ${nounOf(ours)} that is ${ours?.status ?? 'under way'} here.`,
    action: `Nothing, if this is resolved: the statement was taken as evidence. While it is open, nothing was booked for the ${nounOf(ours)}: ask the provider how much moved, then ${ours?.kind === 'topup' ? 'assign what is in suspense' : 'resolve the payment'}.`,
  }),
  outcome_unknown: () => ({
    reason: 'The statement does not show how this payment ended.',
    action: actionsOfOffers.none,
  }),
  reversed: (line, ours) => ({
    reason: `The statement shows that the provider has undone this ${nounOf(ours)}${line?.linked === undefined ? '' : ` (${line.linked})`}.`,
    action:
      ours?.kind === 'payment'
        ? 'Nothing, if this is resolved: the statement was taken as evidence. While it is open, nothing was given back: ask the provider how much came back, then correct the account by an adjustment.'
        : 'Find out why, then correct the account by an adjustment. Until then it stands on the suspense account.',
  }),
  listed_twice: () => ({
    reason: 'The statement lists this receipt more than once.',
    action: 'Ask the provider whether the money moved twice.',
  }),
}

/** A line that can only be the movement of a booking that succeeded without a receipt. */
export const explainReceiptFound = (line: StatementLine, ours: Booked, currency: string): Explanation => ({
  reason: `The statement lists ${amountText(line.amountMinor, currency)} under a receipt that our books do not have, and a ${nounOf(ours)} of this amount succeeded here without a receipt.`,
  action: `Nothing, if this is resolved: the ${nounOf(ours)} has the receipt now. While it is open, ask the provider whose receipt it is.`,
})

const reconcileFile = 'Nothing was recorded: an uploaded statement is only compared. Reconcile the file by the command.'

export const reportActions: Partial<Record<(typeof differenceKinds)[number], string>> = {
  not_in_our_books: 'Find out who moved it at the provider. Nothing was booked: an uploaded statement is only compared.',
  under_way:
    'Nothing was recorded: an uploaded statement is only compared. Resolve the payment, or reconcile the file by the command.',
  outcome_unknown: actionsOfOffers.none,
  ended_otherwise: reconcileFile,
  reversed: reconcileFile,
}
