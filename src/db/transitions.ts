import { namesSql } from './tables/columns.ts'

const moves = <State extends string>(table: Readonly<Record<State, readonly NoInfer<State>[]>>) => table

/** Allowed transitions between the states of each resource, used by writers, by `verify` (over published events) and in SQL. */
export const transitions = {
  payment: moves({
    scheduled: ['processing', 'pending_approval', 'failed', 'cancelled'],
    // `failed`: approved in a later period, in which the payment exceeds that period's limits.
    pending_approval: ['processing', 'rejected', 'expired', 'cancelled', 'failed'],
    processing: ['succeeded', 'failed', 'unknown'],
    succeeded: ['returned'],
    failed: [],
    unknown: ['succeeded', 'failed'],
    rejected: [],
    expired: [],
    cancelled: [],
    returned: [],
  }),
  /** `completed`: every payment has ended and at least one was paid. `failed`: none was paid. */
  payment_batch: moves({
    scheduled: ['processing', 'failed', 'cancelled'],
    pending_approval: ['processing', 'rejected', 'expired', 'cancelled', 'failed'],
    processing: ['completed', 'failed'],
    completed: [],
    failed: [],
    rejected: [],
    expired: [],
    cancelled: [],
  }),
  topup: moves({ pending: ['succeeded', 'failed', 'expired'], succeeded: [], failed: ['succeeded'], expired: ['succeeded'] }),
  approval: moves({
    pending: ['approved', 'rejected', 'expired', 'cancelled'],
    approved: [],
    rejected: [],
    expired: [],
    cancelled: [],
  }),
  mandate: moves({ active: ['exhausted', 'expired', 'revoked'], exhausted: [], expired: [], revoked: [] }),
  /**
   * One send to a rail. `recorded`: not to be sent yet. `sending`: one process may send it, so it may have been sent. `not_sent`:
   * proven never sent, unless the provider later proves otherwise. `disputed`: evidence did not match. A dispute ends with a
   * query's answer that includes the amount, with a prompt's money under another receipt, or by a person.
   */
  attempt: moves({
    recorded: ['sending', 'not_sent', 'resolved'],
    sending: ['submitted', 'lost', 'not_sent', 'disputed', 'resolved'],
    submitted: ['disputed', 'resolved'],
    lost: ['submitted', 'disputed', 'resolved'],
    not_sent: ['disputed', 'resolved'],
    disputed: ['resolved'],
    resolved: ['disputed'],
  }),
}

export type Resource = keyof typeof transitions
export type StateOf<R extends Resource> = Extract<keyof (typeof transitions)[R], string>

/** Same order as in the API's lists and in the tables' constraints. */
const statesOf = <R extends Resource>(resource: R) => Object.keys(transitions[resource]) as [StateOf<R>, ...StateOf<R>[]]

export const paymentStatuses = statesOf('payment')
export const paymentBatchStatuses = statesOf('payment_batch')
export const topupStatuses = statesOf('topup')
export const approvalStatuses = statesOf('approval')
export const mandateStatuses = statesOf('mandate')
export const attemptStates = statesOf('attempt')

/** Statuses that evidence may end, because the money is moving or the outcome is unknown. */
export const underWayPaymentStatuses = ['processing', 'unknown'] as const satisfies readonly StateOf<'payment'>[]

/** Few payments have these statuses, so an index over them costs other payments nothing. */
export const rarePaymentStatuses = [
  'unknown',
  'rejected',
  'expired',
  'cancelled',
  'returned',
] as const satisfies readonly StateOf<'payment'>[]

const statesAfter = (resource: Resource, from: string): readonly string[] =>
  (transitions[resource] as Readonly<Record<string, readonly string[]>>)[from] ?? []

export const mayMove = <R extends Resource>(resource: R, from: StateOf<R>, to: StateOf<R>): boolean =>
  statesAfter(resource, from).includes(to)

/** Any other transition is a bug, and rolls back the transaction. */
export const requireMove = <R extends Resource>(resource: R, from: StateOf<R>, to: StateOf<R>): void => {
  if (!mayMove(resource, from, to)) throw new Error(`a ${resource} does not move from ${from} to ${to}`)
}

/** For updates that check the current state themselves. */
export const statesBefore = <R extends Resource>(resource: R, to: StateOf<R>): StateOf<R>[] =>
  statesOf(resource).filter((from) => mayMove(resource, from, to))

/** Formatted as `from>to`, as `verify` compares them with published events. */
export const edgesOf = (resource: Resource): string[] =>
  Object.keys(transitions[resource]).flatMap((from) => statesAfter(resource, from).map((to) => `${from}>${to}`))

/**
 * The state of a payment's money. `untouched`: not held or counted yet. `held`: counts against limits and can be released.
 * `paid`: reached the payee, even if it was returned later. `released`: hold and charges were undone.
 */
const moneyOf = {
  scheduled: 'untouched',
  pending_approval: 'held',
  processing: 'held',
  unknown: 'held',
  succeeded: 'paid',
  returned: 'paid',
  failed: 'released',
  rejected: 'released',
  cancelled: 'released',
  expired: 'released',
} as const satisfies Record<StateOf<'payment'>, 'untouched' | 'held' | 'paid' | 'released'>

type WithMoney<Place> = {
  [Status in keyof typeof moneyOf]: (typeof moneyOf)[Status] extends Place ? Status : never
}[keyof typeof moneyOf]

const withMoney = <Place extends string>(place: Place): WithMoney<Place>[] =>
  (Object.keys(moneyOf) as WithMoney<Place>[]).filter((status) => moneyOf[status] === place)

export type ReleasedPaymentStatus = WithMoney<'released'>
export const releasedPaymentStatuses = withMoney('released')
export const paidPaymentStatuses = withMoney('paid')
export const openPaymentStatuses = withMoney('held')
/** Statuses that end by a person's decision or at a set time. */
export const waitingPaymentStatuses = ['scheduled', 'pending_approval'] as const satisfies readonly StateOf<'payment'>[]
export const countedPaymentStatuses = [...openPaymentStatuses, ...paidPaymentStatuses]

export const isPaid = (status: string): boolean => paidPaymentStatuses.some((paid) => paid === status)

export const isWaiting = (status: string): boolean => waitingPaymentStatuses.some((waiting) => waiting === status)

export const isUnderWay = (status: string): boolean => (underWayPaymentStatuses as readonly string[]).includes(status)

export const releasedPaymentsSql = namesSql(releasedPaymentStatuses)
export const paidPaymentsSql = namesSql(paidPaymentStatuses)
export const openPaymentsSql = namesSql(openPaymentStatuses)
export const waitingPaymentsSql = namesSql(waitingPaymentStatuses)
export const underWayPaymentsSql = namesSql(underWayPaymentStatuses)
export const countedPaymentsSql = namesSql(countedPaymentStatuses)
