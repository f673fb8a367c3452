import { setImmediate as turn } from 'node:timers/promises'
import { type Db, inTx, type Tx } from '../../../db/client.ts'
import { isPaid } from '../../../db/transitions.ts'
import { type Clock, daysAfter } from '../../../lib/clock.ts'
import { invalidFields, Refusal } from '../../../lib/errors.ts'
import { type AnyRail, collectionRail, depositRailOf, providerOf, railsOf } from '../../../lib/rail-names.ts'
import { receiptForms, receiptKey } from '../../../lib/text.ts'
import { orderIds } from '../../../rails/destinations.ts'
import { nairobiMidnight } from '../../../rails/fields.ts'
import type { Rails } from '../../../rails/rail.ts'
import { recordListedDeposits } from '../../deposits/deposit.ts'
import { type Operator, timerOperator } from '../../operators.ts'
import type { Parts } from '../../parts.ts'
import { type Period, readBooked } from './booked.ts'
import type { Booked } from './booking-index.ts'
import {
  alreadyReconciled,
  type Comparison,
  findComparison,
  findSameContent,
  providerSource,
  type ReconciliationRecord,
  recentComparisons,
  recordComparison,
} from './differences.ts'
import { takeEvidence } from './evidence-service.ts'
import { reportActions } from './explanations.ts'
import { isReversal, type Match, match } from './matching-rules.ts'
import { lockProvider, separateRecorded } from './movements-service.ts'
import type { WholeStatement } from './outcome-offers.ts'
import { readInChunks, type Statement, type StatementLine, type StatementSettings, squeezed } from './statement-rules.ts'

/** Bookings this long outside a statement's period are compared too, because completions reach us late. */
const toleranceMs = 3_600_000

type StatementToCompare = Pick<Comparison, 'provider' | 'source' | 'account' | 'content'> & {
  /** The rails that the lines cover. Payments of other rails do not count as missing. */
  rails: readonly AnyRail[]
  lines: readonly StatementLine[]
  period: Period
  /** Only for the provider's own list: lines that it has just outside the period. */
  listedOutside?: readonly StatementLine[]
  whole?: WholeStatement
}

const widened = ({ start, end }: Period): Period => ({
  start: new Date(start.getTime() - toleranceMs),
  end: new Date(end.getTime() + toleranceMs),
})

/** A line with only a date covers its whole day. If the day has not ended, it covers only the start of the day. */
const periodOf = (lines: readonly StatementLine[], now: Date) => {
  const ends = lines.map(({ at, until = at }) => (until <= now ? until : at).getTime())
  return { start: new Date(Math.min(...lines.map(({ at }) => at.getTime()))), end: new Date(Math.max(...ends)) }
}

/** Null if the statement does not name its account, or if no rail of its provider is configured. */
const payingRails = ({ numbers }: Pick<Rails, 'numbers'>, { provider, heading }: Statement, path: string) => {
  const own = railsOf(provider).filter((rail) => numbers[rail] !== undefined)
  const { number } = heading
  if (number === null || own.length === 0) return null
  const paid = own.filter((rail) => numbers[rail]?.some((each) => squeezed(each) === squeezed(number)))
  if (paid.length > 0) return new Set(paid)
  const ours = [...new Set(own.flatMap((rail) => numbers[rail] ?? []))].join(', ')
  throw invalidFields({
    path,
    message: `it is the statement of ${number.slice(0, 20)}, by which no money of this service moves: export that of ${ours}`,
  })
}

type Reading = { rails: Pick<Rails, 'numbers'>; config: StatementSettings; clock: Clock }

const parseStatement = async ({ rails, config, clock }: Reading, text: string, path: string) => {
  const reading = readInChunks(text, config)
  let step = reading.next()
  for (; !step.done; step = reading.next()) await turn()
  const read = step.value
  if ('problem' in read) throw invalidFields({ path, message: read.problem })
  const { provider, lines, heading } = read
  if (lines.length === 0) throw invalidFields({ path, message: 'it lists nothing that was completed' })
  const { start, end } = periodOf(lines, clock.now())
  const period = { start: heading.period.start && heading.period.start < start ? heading.period.start : start, end }
  const account =
    [heading.number, heading.account]
      .flatMap((part) => part ?? [])
      .join(', ')
      .slice(0, 120) || null
  return { provider, account, rails: railsOf(provider), lines, period, whole: { ...read, rails: payingRails(rails, read, path) } }
}

/** Called before the transaction, because reading takes several turns of the event loop. */
export const readUpload = async (
  deps: Reading,
  { source, statement: text }: { source: string; statement: string },
): Promise<StatementToCompare> => ({ ...(await parseStatement(deps, text, 'statement')), source, content: `uploaded ${text}` })

/** All texts of a line that may be one of our receipts. */
const receiptsOf = ({ receipt, linked, words = [] }: StatementLine): readonly string[] =>
  [receipt, linked, ...words].flatMap((name) => name ?? [])

const namesOf = (lines: readonly StatementLine[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => receiptsOf(line).map(receiptKey).concat(line.references)))

const countText = (count: number): string => (count === 1 ? 'one payment' : `${count} payments`)

/** Returns why the statement proves nothing about some unknown payments, or undefined if it covers them all. */
const unprovenBy = (
  { numbers }: Pick<Rails, 'numbers'>,
  booked: readonly Booked[],
  { differences }: Match,
  { rails, heading }: WholeStatement,
): string | undefined => {
  const shown = new Set(differences.map(({ subject }) => subject?.id))
  const unmentioned = booked.filter(({ id, status }) => status === 'unknown' && !shown.has(id))
  if (unmentioned.length === 0) return undefined
  const about = `It says nothing about ${countText(unmentioned.length)} of unknown outcome`
  if (rails === null)
    return `${about}: it does not name the account that it is of, so that what it does not list proves nothing. Export it with the lines above its columns.`
  const others = unmentioned.filter(({ rail }) => !rails.has(rail))
  const paidFrom = [...new Set(others.flatMap(({ rail }) => numbers[rail] ?? []))].join(', ')
  const reasons = [
    ...(others.length > 0
      ? [`${countText(others.length)} left by another account than ${heading.number}: import the statement of ${paidFrom}`]
      : []),
    ...(others.length < unmentioned.length
      ? [
          `${countText(unmentioned.length - others.length)} left at a time that it does not cover, or covers for less than three hours`,
        ]
      : []),
  ]
  return `${about}: ${reasons.join('; ')}.`
}

const compareLines = async (db: Db, deps: Pick<Parts, 'config' | 'orderNames' | 'rails'>, statement: StatementToCompare) => {
  const { rails, listedOutside, whole, period } = statement
  const { lines, recorded } = await separateRecorded(db, statement.provider, statement.lines)
  const references = lines.flatMap((line) => line.references)
  // M-PESA lists the order's name, from which the name of its first send derives.
  const attemptIds = orderIds(references).map((orderId) => deps.orderNames.attemptOf({ orderId }, 1))
  const anyCase = [...new Set(lines.flatMap(receiptsOf).flatMap(receiptForms))]
  const booked = await readBooked(db, rails, widened(period), { receipts: anyCase, references, attemptIds }, deps.orderNames)
  const inside = namesOf(lines)
  const outside = namesOf(listedOutside ?? [])
  // Outside the exact period, a booking counts only if the statement names it, possibly by its reference alone.
  const ofPeriod = booked.flatMap((ours) => {
    const { receipt, reference, orderId, at, status } = ours
    const known = [receipt && receiptKey(receipt), reference, orderId]
    const isNamed = (names: ReadonlySet<string>) => known.some((name) => name !== null && names.has(name))
    if (!isPaid(status) || isNamed(inside)) return [ours]
    if (isNamed(outside)) return []
    if (at >= period.start && at <= period.end) return [ours]
    return receipt === null ? [{ ...ours, isOutside: true as const }] : []
  })
  const inPeriod = ofPeriod.filter(({ isOutside }) => !isOutside)
  const result = match(lines, ofPeriod, deps.config.CURRENCY, { whole, recorded })
  const feesMinor = inPeriod.reduce((sum, { status, feeMinor }) => (isPaid(status) ? sum + feeMinor : sum), 0n)
  // An empty list proves nothing against our books, because the account may not be registered for the list.
  if (statement.lines.length === 0 && result.differences.length > 0) {
    const unproven = `The provider listed nothing, and our books have ${countText(inPeriod.length)} of that day. If it always lists nothing, the account is not registered for this list: run npm run admin -- rails register.`
    return {
      ...statement,
      lines: 0,
      result: { matched: 0, differences: [], bookedMinor: 0n, statedMinor: 0n },
      totals: { unproven },
      feesMinor,
    }
  }
  const unproven = whole && unprovenBy(deps.rails, ofPeriod, result, whole)
  const count = statement.lines.length - result.charges.lines
  return { ...statement, lines: count, result, feesMinor, ...(unproven && { totals: { unproven } }) }
}

const reconcileLines = async (deps: Parts, operator: Operator, statement: StatementToCompare): Promise<ReconciliationRecord> => {
  // Records deposits whose notifications were lost, so that these are no differences. Lines without a receipt, as in a bank's own
  // statement, are left out, because such a deposit could be booked twice. So are lines that reverse another transaction.
  const { lines } = await separateRecorded(deps.db, statement.provider, statement.lines)
  const receipted = lines.flatMap(({ receipt, ...line }) =>
    receipt === null || isReversal({ receipt, ...line }) ? [] : [{ ...line, receipt }],
  )
  const isList = statement.listedOutside !== undefined
  await recordListedDeposits(deps, statement.provider, receipted, isList ? 'list' : 'statement')
  const earlier = await findSameContent(deps.db, statement)
  if (earlier) {
    if ((await takeEvidence(deps, operator, earlier)) === 0) throw alreadyReconciled()
    return earlier
  }
  const run = await inTx(deps.db, async (tx) => {
    // A person who records a movement waits, so that no line of it is booked as unexplained.
    await lockProvider(tx, statement.provider)
    return recordComparison(tx, operator, await compareLines(tx, deps, statement))
  })
  if (isList && run.totals.unproven !== undefined)
    deps.alerts.raise('reconciliation_difference', { subject: 'reconciliation', id: run.id, code: 'nothing_listed' })
  await takeEvidence(deps, operator, run)
  return run
}

export const reconcileStatement = async (
  deps: Parts,
  operator: Operator,
  { source, text }: { source: string; text: string },
): Promise<ReconciliationRecord> =>
  reconcileLines(deps, operator, { ...(await parseStatement(deps, text, 'file')), source, content: text })

/** Only reports differences, because the uploader may have written the file. `reconcile` may compare the same content again. */
export const reportStatement = async (
  tx: Tx,
  deps: Pick<Parts, 'config' | 'orderNames' | 'rails'>,
  operator: Operator,
  statement: StatementToCompare,
): Promise<ReconciliationRecord> => {
  const comparison = await compareLines(tx, deps, statement)
  // An uploaded file proves nothing, so no outcome is offered, and no action claims that anything was booked.
  const differences = comparison.result.differences.map(({ offer: _, ...difference }) => ({
    ...difference,
    action: reportActions[difference.kind] ?? difference.action,
  }))
  const report = { ...comparison, result: { ...comparison.result, differences }, report: true }
  return recordComparison(tx, operator, report)
}

const settledAfterMs = 3 * 3_600_000
/** Maximum number of days compared after an outage. Earlier days are compared by file. */
const maxDaysBehind = 7

/** Days in Nairobi that are not compared yet, oldest first. The first run compares yesterday. */
const daysToList = (now: Date, listedUntil: Date | null): Period[] => {
  const today = nairobiMidnight(new Date(now.getTime() - settledAfterMs))
  const first = listedUntil ?? daysAfter(today, -1)
  const days: Period[] = []
  for (let end = today; end > first && days.length < maxDaysBehind; end = daysAfter(end, -1))
    days.unshift({ start: daysAfter(end, -1), end })
  return days
}

export const reconcilePaidIn = async (deps: Parts): Promise<void> => {
  const { collection } = deps.rails
  if (!collection) return
  const provider = providerOf(collectionRail)
  const deposits = depositRailOf(provider)
  const last = await findComparison(deps.db, provider, providerSource)
  const since = daysAfter(deps.clock.now(), -maxDaysBehind)
  const recent = await deps.db.run(recentComparisons, { provider, source: providerSource, since })
  for (const period of daysToList(deps.clock.now(), last?.periodEnd ?? null)) {
    const movements = await collection.listPaidIn(widened(period))
    if (movements === undefined) throw new Error('the provider did not list what was paid in')
    const isOfDay = ({ at }: StatementLine) => at >= period.start && at < period.end
    const statement = {
      provider,
      rails: [collectionRail, ...(deposits ? [deposits] : [])],
      source: providerSource,
      // Makes the comparison of a day unique across all processes.
      content: `paid in until ${period.end.toISOString()}`,
      lines: movements.filter(isOfDay),
      period,
      listedOutside: movements.filter((movement) => !isOfDay(movement)),
    } as const
    await reconcileLines(deps, timerOperator, statement).catch((error: unknown) => {
      if (!(error instanceof Refusal && error.code === 'conflict')) throw error
    })
  }
  // An earlier run may have been interrupted after it was recorded, or one of its differences may have failed.
  for (const run of recent) await takeEvidence(deps, timerOperator, run)
}
