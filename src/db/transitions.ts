import type { approvalStatuses } from './tables/approvals.ts'
import type { mandateStatuses } from './tables/mandates.ts'
import type { attemptStates, paymentStatuses, topupStatuses } from './tables/payments.ts'

/** For every state of a table's list the states that may follow it. */
type Moves<State extends string> = Readonly<Record<State, readonly State[]>>

/**
 * How every record with a state moves, in one place: writers check it before they write, `verify` holds what was published against
 * it, and SQL takes its lists of states from here. A state without an entry behind it is an end.
 */
export const transitions = {
  payment: {
    // Failed: approved in a later period, whose limits it no longer fits.
    pending_approval: ['processing', 'rejected', 'expired', 'cancelled', 'failed'],
    processing: ['succeeded', 'failed', 'unknown'],
    unknown: ['succeeded', 'failed'],
    succeeded: ['returned'],
    failed: [],
    rejected: [],
    expired: [],
    cancelled: [],
    returned: [],
  },
  topup: {
    pending: ['succeeded', 'failed', 'expired'],
    expired: ['succeeded'],
    failed: ['succeeded'],
    succeeded: [],
  },
  approval: { pending: ['approved', 'rejected', 'expired', 'cancelled'], approved: [], rejected: [], expired: [], cancelled: [] },
  mandate: { active: ['exhausted', 'expired', 'revoked'], exhausted: [], expired: [], revoked: [] },
  /**
   * One send to a rail. `recorded`: no process may send it yet. `sending`: one process has the right to, so it may have been sent.
   * `not_sent`: proof that it never was; it becomes `resolved` only when the provider proves that it was after all.
   * A mismatch disputes an attempt whenever it comes, also after its end.
   */
  attempt: {
    recorded: ['sending', 'not_sent'],
    sending: ['submitted', 'lost', 'not_sent', 'disputed', 'resolved'],
    lost: ['submitted', 'disputed', 'resolved'],
    submitted: ['disputed', 'resolved'],
    not_sent: ['disputed', 'resolved'],
    disputed: ['resolved'],
    resolved: ['disputed'],
  },
} as const satisfies {
  payment: Moves<(typeof paymentStatuses)[number]>
  topup: Moves<(typeof topupStatuses)[number]>
  approval: Moves<(typeof approvalStatuses)[number]>
  mandate: Moves<(typeof mandateStatuses)[number]>
  attempt: Moves<(typeof attemptStates)[number]>
}

export type Resource = keyof typeof transitions
export type StateOf<R extends Resource> = Extract<keyof (typeof transitions)[R], string>

const statesAfter = (resource: Resource, from: string): readonly string[] => {
  const known: Readonly<Record<string, readonly string[]>> = transitions[resource]
  return known[from] ?? []
}

export const mayMove = <R extends Resource>(resource: R, from: StateOf<R>, to: StateOf<R>): boolean =>
  statesAfter(resource, from).includes(to)

/** A move that no table allows is a bug, and undoes its transaction. */
export const requireMove = <R extends Resource>(resource: R, from: StateOf<R>, to: StateOf<R>): void => {
  if (!mayMove(resource, from, to)) throw new Error(`a ${resource} does not move from ${from} to ${to}`)
}

/** The states from which a record may come to this one: for an update that is its own check. */
export const statesBefore = <R extends Resource>(resource: R, to: StateOf<R>): StateOf<R>[] =>
  (Object.keys(transitions[resource]) as StateOf<R>[]).filter((from) => mayMove(resource, from, to))

/** `from>to`, as `verify` compares what was published. */
export const edgesOf = (resource: Resource): string[] =>
  Object.keys(transitions[resource]).flatMap((from) => statesAfter(resource, from).map((to) => `${from}>${to}`))

/** Payments that gave their hold and their charges back. Every other one counts against its limits. */
export const releasedPaymentStatuses = ['rejected', 'failed', 'cancelled', 'expired'] as const
export type ReleasedPaymentStatus = (typeof releasedPaymentStatuses)[number]

const isReleased = (status: string): boolean => (releasedPaymentStatuses as readonly string[]).includes(status)

export const countedPaymentStatuses: readonly StateOf<'payment'>[] = (
  Object.keys(transitions.payment) as StateOf<'payment'>[]
).filter((status) => !isReleased(status))

/** Payments whose money reached the payee, also when it came back later. */
export const paidPaymentStatuses = ['succeeded', 'returned'] as const
export const isPaid = (status: string): boolean => (paidPaymentStatuses as readonly string[]).includes(status)

/** Payments that count and are not paid yet: they may still give back what they hold. */
export const openPaymentStatuses = countedPaymentStatuses.filter((status) => !isPaid(status))

const sqlList = (states: readonly string[]): string => `(${states.map((state) => `'${state}'`).join(', ')})`

/** For `status in …`: these are names of ours, never input. */
export const releasedPaymentsSql = sqlList(releasedPaymentStatuses)
export const paidPaymentsSql = sqlList(paidPaymentStatuses)
export const openPaymentsSql = sqlList(openPaymentStatuses)
export const countedPaymentsSql = sqlList(countedPaymentStatuses)
