import { ruleOf } from '../../../src/policy/rules.ts'
import type { Schemas } from '../api/queries.ts'
import { moneyText } from './money.ts'
import { typeLabel } from './rails.ts'
import { periodWords, shortTime } from './time.ts'

export type Decision = Schemas['Decision']
export type TraceEntry = NonNullable<Decision['trace']>[number]

const kinds: Readonly<Record<TraceEntry['source']['kind'], string>> = {
  policy: 'Policy',
  grant: 'Limits of',
  mandate: 'Mandate',
  capability: 'Account',
  rail: 'Payment method',
}

/** "Policy “Office”": whose rule it is. */
export const sourceWords = ({ source, rule }: Pick<TraceEntry, 'source' | 'rule'>): string => {
  const { kind, name } = source
  if (rule === 'eligible_approvers') return 'Approvers'
  if (kind === 'capability') return 'Account'
  if (kind === 'rail') return name ? typeLabel(name) : kinds.rail
  return name ? `${kinds[kind]} “${name}”` : kinds[kind]
}

/** A line of the trace: the service's own words about the rule. `at`: when it was checked, because the day's use is that day's. */
export const traceWords = (entry: TraceEntry, currency: string, at: number): string => {
  const money = (minor: string | undefined) => moneyText(minor ?? '0', currency)
  return ruleOf(entry.rule).checked({
    source: sourceWords(entry),
    limit: money(entry.limit_minor),
    used: money(entry.used_minor),
    requested: money(entry.requested_minor),
    resets: entry.resets_at ? shortTime(entry.resets_at) : 'later',
    needed: entry.required_approvals ?? 0,
    able: entry.eligible_approvers ?? 0,
    ...periodWords(at),
    signed: entry.approval_proof === 'signature',
    passed: entry.outcome === 'allow',
  })
}

/** The service's explanation of a decision, with times in the workspace's zone. */
export const decisionReason = ({ explanation }: Pick<Decision, 'explanation'>): string =>
  explanation.replace(/\bat (\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (_match, instant: string) => shortTime(instant))

/** What the hard limits leave: the largest amount that could be sent with approval. */
const mostWithApproval = (trace: readonly TraceEntry[]): string | null => {
  const rooms = trace.flatMap(({ rule, limit_minor: limit, used_minor: used }) => {
    return limit === undefined || ruleOf(rule).bound !== 'limit' ? [] : [BigInt(limit) - BigInt(used ?? '0')]
  })
  const least = rooms.reduce<bigint | null>((lowest, room) => (lowest === null || room < lowest ? room : lowest), null)
  return least !== null && least > 0n ? least.toString() : null
}

/** The smallest changes that would let it pass. Where an approval is needed no amount below the threshold is named: that teaches splitting. */
export const remedyWords = ({ remedy, trace }: Pick<Decision, 'remedy' | 'trace'>, currency: string): string[] => {
  if (!remedy) return []
  const asks = (trace ?? []).some(({ outcome }) => outcome === 'require_approval')
  const now = asks ? null : remedy.max_amount_minor
  const withApproval = asks ? mostWithApproval(trace ?? []) : null
  return [
    ...(now ? [`${moneyText(now, currency)} or less would go through now.`] : []),
    ...(withApproval ? [`Up to ${moneyText(withApproval, currency)} would go through with approval.`] : []),
    ...(remedy.passes_at ? [`This amount goes through ${shortTime(remedy.passes_at)} without a change.`] : []),
    ...remedy.changes.flatMap(({ source, rule, to_minor: to }) => {
      const { raise } = ruleOf(rule)
      return to && raise ? [`${sourceWords({ source, rule })}: raise the ${raise} to ${moneyText(to, currency)}.`] : []
    }),
  ]
}
