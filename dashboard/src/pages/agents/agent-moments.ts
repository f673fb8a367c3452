import type { Schemas } from '../../../../client/src/route-types.ts'
import { localDate } from '../../lib/time.ts'
import type { GrantChange } from './grant-changes.ts'

type Payment = Schemas['Payment']

export type Moment = { key: string; at: string } & (
  | { kind: 'payment'; payment: Payment }
  /** Several successful payments in a row, on one day. */
  | { kind: 'payments'; payments: readonly [Payment, ...Payment[]] }
  | { kind: 'refusal'; refusal: Schemas['RefusedPayment'] }
  | { kind: 'beneficiary'; beneficiary: Schemas['Beneficiary']; created: boolean }
  | { kind: 'policy'; policy: Schemas['SpendingPolicy']; created: boolean }
  | { kind: 'change'; change: GrantChange }
  | { kind: 'created' }
)

/** Moments from one list. `readTo`: time of the oldest loaded row if older rows exist, else null. */
export type Part = { moments: readonly Moment[]; readTo: string | null }

const minRunLength = 3

const isPaid = (moment: Moment): boolean => moment.kind === 'payment' && moment.payment.status === 'succeeded'

const sameDay = (a: string, b: string): boolean => localDate(Date.parse(a)) === localDate(Date.parse(b))

/** Number of moments from `start` that are successful payments of one day. */
const runFrom = (moments: readonly Moment[], start: number, day: string): number => {
  const length = moments.slice(start).findIndex((moment) => !(isPaid(moment) && sameDay(moment.at, day)))
  return length === -1 ? moments.length - start : length
}

/** Merges successful payments in a row into one line. */
const mergeRuns = (moments: readonly Moment[]): Moment[] => {
  const lines: Moment[] = []
  for (let start = 0; start < moments.length; ) {
    const first = moments[start]
    if (!first) break
    const length = Math.max(1, runFrom(moments, start, first.at))
    const run = moments.slice(start, start + length)
    const [payment, ...others] = run.flatMap((moment) => (moment.kind === 'payment' ? [moment.payment] : []))
    if (payment && run.length >= minRunLength)
      lines.push({ key: `run ${first.key}`, at: first.at, kind: 'payments', payments: [payment, ...others] })
    else lines.push(...run)
    start += length
  }
  return lines
}

/** All moments, newest first, back to the point to which every list is loaded: older moments would have gaps. */
export const timelineOf = (parts: readonly Part[]): Moment[] => {
  const from = Math.max(...parts.map(({ readTo }) => (readTo === null ? Number.NEGATIVE_INFINITY : Date.parse(readTo))))
  const known = parts
    .flatMap(({ moments }) => moments)
    .filter(({ at }) => Date.parse(at) >= from)
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return mergeRuns(known)
}
