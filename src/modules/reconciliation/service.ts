import { type Db, inTx, type Tx } from '../../db/client.ts'
import { isPaid } from '../../db/transitions.ts'
import { daysAfter } from '../../lib/clock.ts'
import { invalidFields, Refusal } from '../../lib/errors.ts'
import { collectionRail, depositRailOf, type Provider, providerOf, railsOf } from '../../lib/rail-names.ts'
import { orderIds } from '../../rails/destinations.ts'
import { nairobiMidnight } from '../../rails/nairobi-time.ts'
import type { Evidence } from '../../rails/rail.ts'
import { alertAfterCommit } from '../alerts.ts'
import { type Operator, timerOperator } from '../operators.ts'
import { applyEvidence, openAttempt } from '../payments/lifecycle/attempts/evidence.ts'
import type { Report, Subjects } from '../payments/lifecycle/attempts/subject.ts'
import { takeListedDeposits } from '../topups/deposits/listed.ts'
import type { StatementLine } from './books.ts'
import type { Deps } from './deps.ts'
import { lastListedUntil, providerSource, type ReconciliationRecord, readBooked } from './queries.ts'
import { type Comparison, recordComparison } from './record.ts'
import { acceptAll } from './resolve.ts'
import { type Difference, match, withoutEffect } from './rules.ts'
import { readStatement } from './statement-rules.ts'

type ReconciliationDeps = Pick<Deps, 'alerts' | 'appendEvents' | 'clock' | 'config' | 'db' | 'orderNames' | 'vault'>

/** How far our own times may lie outside a statement's first and last line: a completion reaches us later than it happened. */
const edgeMs = 3_600_000

type Statement = {
  provider: Provider
  /** The rails that the statement lists: payments by other rails are not missing in it. */
  rails: readonly string[]
  source: string
  /** The same content is compared only once. */
  content: string
  lines: readonly StatementLine[]
  period: { start: Date; end: Date }
  /** The lines that it has just before and after its period, if any. */
  listedOutside?: readonly StatementLine[]
}

const namesOf = (lines: readonly StatementLine[]): ReadonlySet<string> =>
  new Set(lines.flatMap(({ receipt, references }) => [receipt, ...references]))

const periodOf = (lines: readonly StatementLine[]) => {
  const times = lines.map(({ at }) => at.getTime())
  return { start: new Date(Math.min(...times)), end: new Date(Math.max(...times)) }
}

/** A payment without an attempt: it was sent in writes that were lost, under the names that the statement shows. */
const takeWithoutAttempt = async (
  tx: Tx,
  deps: Pick<Deps, 'alerts' | 'appendEvents' | 'config'>,
  subjects: Subjects,
  report: Report,
): Promise<void> => {
  const { id } = report
  const opened = await subjects.payment.open(tx, deps, [id])
  const [verdict] = await opened.settle([report])
  if (verdict === 'mismatch' || verdict === 'contradiction')
    alertAfterCommit(tx, deps, 'evidence_mismatch', { subject: 'payment', id, code: verdict })
}

/** A statement comes from the provider: what it shows about an attempt that is still open ends the attempt. */
const takeAsEvidence = async (
  deps: Pick<Deps, 'alerts' | 'appendEvents' | 'config' | 'db'>,
  subjects: Subjects,
  operator: Operator,
  difference: Difference,
): Promise<void> => {
  const { subject, attemptId, receipt, statedMinor } = difference
  if (!subject || statedMinor === null) return
  const amountMinor = statedMinor < 0n ? -statedMinor : statedMinor
  const evidence: Evidence = { kind: 'succeeded', receipt, amountMinor }
  const source = { kind: 'operator', actor: operator } as const
  await inTx(deps.db, async (tx) => {
    if (attemptId === null) {
      if (subject.kind === 'payment') await takeWithoutAttempt(tx, deps, subjects, { id: subject.id, evidence, source })
      return
    }
    const open = await openAttempt(tx, deps, subjects[subject.kind], { id: attemptId, subjectId: subject.id })
    await applyEvidence(tx, deps, [{ open, evidence, source }])
  })
}

/** Compares a provider's statement with our books; every difference becomes a row with its reason and what to do. */
export const reconcileStatement = async (
  deps: ReconciliationDeps,
  subjects: Subjects,
  operator: Operator,
  { source, text }: { source: string; text: string },
): Promise<ReconciliationRecord> => {
  return reconcileLines(deps, subjects, operator, { ...readWhole(text, 'file'), source, content: text })
}

/** `path`: where the text stands, for the refusal of one that is no statement. */
const readWhole = (text: string, path: string): Pick<Statement, 'provider' | 'rails' | 'lines' | 'period'> => {
  const read = readStatement(text)
  if ('problem' in read) throw invalidFields({ path, message: read.problem })
  const { provider, lines } = read
  if (lines.length === 0) throw invalidFields({ path, message: 'it lists nothing that was completed' })
  return { provider, rails: railsOf(provider), lines, period: periodOf(lines) }
}

/**
 * Compares a statement that an administrator has uploaded, and lists the differences. Whoever uploads a file may have written it, so it is
 * evidence of nothing: no deposit is credited, no attempt ends, nothing goes to suspense and no outcome is offered. The same content may
 * still be reconciled by the command, which does all of that.
 */
export const reportStatement = async (
  tx: Tx,
  deps: Pick<ReconciliationDeps, 'alerts' | 'config' | 'orderNames'>,
  operator: Operator,
  { source, statement: text }: { source: string; statement: string },
): Promise<ReconciliationRecord> => {
  const statement = { ...readWhole(text, 'statement'), source, content: `uploaded ${text}` }
  const compared = await compareLines(tx, deps, statement)
  const differences = compared.result.differences.map(withoutEffect)
  return recordComparison(tx, deps, operator, { ...compared, result: { ...compared.result, differences }, report: true })
}

const reconcileLines = async (
  deps: ReconciliationDeps,
  subjects: Subjects,
  operator: Operator,
  statement: Statement,
): Promise<ReconciliationRecord> => {
  // A deposit whose notice was lost is no difference: what lists it is the notice.
  await takeListedDeposits(deps, statement.provider, statement.lines, statement.source === providerSource ? 'list' : 'statement')
  const comparison = await compareLines(deps.db, deps, statement)
  const run = await inTx(deps.db, (tx) => recordComparison(tx, deps, operator, comparison))
  for (const difference of comparison.result.differences)
    if (difference.kind === 'under_way') await takeAsEvidence(deps, subjects, operator, difference)
  if (deps.config.RECONCILIATION_RESOLVES) await acceptAll(deps, operator, run)
  return run
}

const compareLines = async (
  db: Db,
  deps: Pick<ReconciliationDeps, 'config' | 'orderNames'>,
  statement: Statement,
): Promise<Comparison> => {
  const { lines, rails, listedOutside } = statement
  const { start, end } = statement.period
  const references = lines.flatMap((line) => line.references)
  // M-PESA writes the name of the order, from which the name of its first send follows.
  const attemptIds = orderIds(references).map((orderId) => deps.orderNames.attemptOf({ orderId }, 1))
  const names = { receipts: lines.map(({ receipt }) => receipt), references, attemptIds }
  const around = { start: new Date(start.getTime() - edgeMs), end: new Date(end.getTime() + edgeMs) }
  const booked = await readBooked(db, rails, around, names, deps.orderNames)
  const inside = namesOf(lines)
  const outside = namesOf(listedOutside ?? [])
  // Near the start and the end, only what the statement names belongs to its period; a booking may have only its reference.
  const ofPeriod = booked.filter(({ receipt, reference, orderId, at, status }) => {
    const isNamed = (names: ReadonlySet<string>) => [receipt, reference, orderId].some((name) => name !== null && names.has(name))
    if (!isPaid(status) || isNamed(inside)) return true
    return !isNamed(outside) && at >= start && at <= end
  })
  // The provider's list of incoming payments shows nothing about payments that go out.
  const whole = statement.source === providerSource ? undefined : statement.period
  const result = match(lines, ofPeriod, deps.config.CURRENCY, whole)
  const { provider, source, content, period } = statement
  return { provider, source, content, period, lines: lines.length, result }
}

/** A day is compared this long after its end: the provider's list may be late. */
const settledAfterMs = 3 * 3_600_000
/** After a longer outage, earlier days are compared by file. */
const mostDaysBehind = 7

/**
 * The days, in the provider's time zone, whose incoming payments are not yet compared with its own list, oldest first. A new installation
 * begins with yesterday.
 */
const daysToList = (now: Date, listedUntil: Date | null): { start: Date; end: Date }[] => {
  const today = nairobiMidnight(new Date(now.getTime() - settledAfterMs))
  const first = listedUntil ?? daysAfter(today, -1)
  const days: { start: Date; end: Date }[] = []
  for (let end = today; end > first && days.length < mostDaysBehind; end = daysAfter(end, -1))
    days.unshift({ start: daysAfter(end, -1), end })
  return days
}

/**
 * Compares each past day's top-ups with the provider's list of incoming payments, once a day, by API.
 * Outgoing payments are compared by the organisation's statement.
 */
export const reconcilePaidIn = async (deps: ReconciliationDeps & Pick<Deps, 'rails'>, subjects: Subjects): Promise<void> => {
  const { collection } = deps.rails
  if (!collection) return
  const provider = providerOf(collectionRail)
  const deposits = depositRailOf(provider)
  for (const period of daysToList(deps.clock.now(), await lastListedUntil(deps.db, provider))) {
    const { start, end } = period
    const around = { start: new Date(start.getTime() - edgeMs), end: new Date(end.getTime() + edgeMs) }
    const movements = await collection.listPaidIn(around)
    if (movements === undefined) throw new Error('the provider did not list what was paid in')
    const isOfDay = ({ at }: StatementLine) => at >= start && at < end
    const lines = movements.filter(isOfDay)
    const listedOutside = movements.filter((movement) => !isOfDay(movement))
    // One comparison for each day, in whichever process.
    const content = `paid in until ${period.end.toISOString()}`
    const statement = {
      provider,
      rails: [collectionRail, ...(deposits ? [deposits] : [])],
      source: providerSource,
      content,
      lines,
      period,
      listedOutside,
    } as const
    await reconcileLines(deps, subjects, timerOperator, statement).catch((error: unknown) => {
      if (!(error instanceof Refusal && error.code === 'conflict')) throw error
    })
  }
}
