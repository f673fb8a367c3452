import type { Schemas } from '../../../../client/src/route-types.ts'
import { providerOf } from '../../../../src/lib/rail-names.ts'
import { tRecon } from './texts.ts'

export type Difference = Schemas['ReconciliationDifference']
export type SuspenseItem = Schemas['SuspenseItem']

/** An item that is resolved as one: money in suspense, a difference, or both in one line. */
export type OpenItem = { key: string; suspense: SuspenseItem | null; difference: Difference | null }

/** One receipt may stand on a payment out and on one in. */
const isOf =
  ({ provider_receipt: receipt, direction }: SuspenseItem) =>
  ({ kind, provider_receipt: listed, stated_minor: stated }: Difference): boolean =>
    kind === 'not_in_our_books' &&
    receipt !== null &&
    listed === receipt &&
    (stated === null || stated.startsWith('-') === (direction === 'out'))

/** A statement line that is missing from the books is both a difference and money in suspense, and becomes one item. */
export const openItems = (
  suspense: readonly SuspenseItem[],
  differences: readonly Difference[],
): { inSuspense: OpenItem[]; others: OpenItem[] } => {
  const rest = new Set(differences)
  const inSuspense = suspense.map((item) => {
    const difference = [...rest].find(isOf(item)) ?? null
    if (difference) rest.delete(difference)
    return { key: item.id, suspense: item, difference }
  })
  const others = [...rest].map((difference) => ({ key: difference.id, suspense: null, difference }))
  return { inSuspense, others }
}

export type UnknownPayment = Schemas['AdminPayment']
type Run = Schemas['Reconciliation']

/** Evidence of one compared statement about a payment. `difference`: the statement's finding. Null if there is none. */
export type StatementEvidence = { run: Run; difference: Difference | null; words: string }

/** Whether a statement was compared. The provider's list of top-ups and a balance name no payment. */
const isStatement = ({ source }: Run): boolean => source !== 'provider' && source !== 'balance'

const covers = ({ provider, period_start: start, period_end: end }: Run, payment: UnknownPayment): boolean =>
  provider === providerOf(payment.payment_rail) && payment.created_at >= start && payment.created_at <= end

/** Whether the statement has a line for this payment. */
export const isListed = ({ difference }: Pick<StatementEvidence, 'difference'>): boolean =>
  difference !== null && difference.stated_minor !== null

const wordsOf = (run: Run, difference: Difference | null): string => {
  if (!difference) return tRecon('evidence.not_named', { reason: run.unproven ?? tRecon('evidence.none') })
  return tRecon(isListed({ difference }) ? 'evidence.listed' : 'evidence.not_listed', { reason: difference.reason })
}

export const evidenceFrom = (run: Run, payment: UnknownPayment, differences: readonly Difference[]): StatementEvidence => {
  const difference =
    differences.find(({ reconciliation_id: of, payment_id: about }) => of === run.id && about === payment.id) ?? null
  return { run, difference, words: wordsOf(run, difference) }
}

/** Compared statements that cover the payment's time, or found something about it. */
export const evidenceFor = (
  payment: UnknownPayment,
  runs: readonly Run[],
  differences: readonly Difference[],
): StatementEvidence[] =>
  runs
    .filter(isStatement)
    .map((run) => evidenceFrom(run, payment, differences))
    .filter(({ run, difference }) => difference !== null || covers(run, payment))

/** The compared file or list, with its account. */
export const sourceOf = ({ source, account }: Run): string =>
  account === null ? source : tRecon('source_of', { source, account })

/** Prefills the form: the statement's line for a paid payment, or the reason for a missing line. */
export const prefilledEvidence = (
  statements: readonly StatementEvidence[],
  outcome: 'succeeded' | 'failed',
): { evidence: string; receipt: string } => {
  const one = statements.find((each) => each.difference !== null && isListed(each) === (outcome === 'succeeded'))
  if (!one?.difference) return { evidence: '', receipt: '' }
  const { run, difference } = one
  return { evidence: `${sourceOf(run)}: ${difference.reason}`, receipt: difference.provider_receipt ?? '' }
}

/** The difference whose acceptance ends the payment with this outcome. */
export const acceptableDifference = (
  statements: readonly StatementEvidence[],
  outcome: 'succeeded' | 'failed',
): Difference | undefined =>
  statements.map(({ difference }) => difference).find((difference) => difference?.offered_outcome === outcome) ?? undefined
