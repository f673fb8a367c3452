import type { Schemas } from '../../../client/src/route-types.ts'
import type { Permission } from '../../../src/auth/permissions.ts'
import type { PolicyWire } from '../../../src/policy/fields.ts'
import { ruleOf } from '../../../src/policy/rules.ts'
import { policySentence as sentenceOf } from '../../../src/policy/sentence.ts'
import { answerWords, type RuleAnswer, type Words } from '../../../src/policy/term-words.ts'
import { plainWords } from './field-words.ts'
import { typeLabel } from './rails.ts'
import { periodWords, shortTime } from './time.ts'
import { listWords, moneyText } from './words.ts'

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
  if (name === 'on_duplicate of the request') return 'The request'
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
    named: entry.approver_ids ?? [],
    ...periodWords(at),
    signed: entry.approval_proof === 'signature',
    passed: entry.outcome === 'allow',
  })
}

/** The service's explanation of a decision, with times in the workspace's zone. What a rail refuses is a message about a field. */
export const decisionReason = ({ explanation }: Pick<Decision, 'explanation'>): string => {
  const text = explanation.replace(/\bat (\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (_match, instant: string) => shortTime(instant))
  return /^[a-z_]+: /.test(text) ? `${plainWords(text)}.` : text
}

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

const newPayeeWords = {
  allow: 'new beneficiaries without asking',
  require_approval: 'asks about new beneficiaries',
  deny: 'no new beneficiaries',
} as const

/** Limits in one line: "KES 500.00 per payment, KES 2,000.00 a day". */
export const controlsWords = (
  controls: Schemas['SpendingControls'],
  currency: string,
  nameOf: (id: string) => string,
): string => {
  const money = (minor: string) => moneyText(minor, currency)
  const parts = [
    ...(controls.per_payment_limit_minor !== undefined ? [`${money(controls.per_payment_limit_minor)} per payment`] : []),
    ...(controls.daily_limit_minor !== undefined ? [`${money(controls.daily_limit_minor)} a day`] : []),
    ...(controls.monthly_limit_minor !== undefined ? [`${money(controls.monthly_limit_minor)} a month`] : []),
    ...(controls.total_limit_minor !== undefined ? [`${money(controls.total_limit_minor)} in all`] : []),
    ...(controls.approval_threshold_minor !== undefined
      ? [`approval at or above ${money(controls.approval_threshold_minor)}`]
      : []),
    ...(controls.payment_types ? [`only ${listWords(controls.payment_types.map(typeLabel), 'or')}`] : []),
    ...(controls.new_payees ? [newPayeeWords[controls.new_payees]] : []),
    ...(controls.beneficiary_ids ? [`only to ${listWords(controls.beneficiary_ids.map(nameOf), 'or')}`] : []),
  ]
  return parts.length > 0 ? parts.join(', ') : 'No limits'
}

type Bound = Pick<Schemas['SpendingPolicy'], 'binds' | 'created_by'>

/** The key or agent that a policy binds is the one that created it. */
const boundTo = ({ binds, created_by: { label } }: Bound): string | null => (binds === 'all' ? null : (label ?? 'a key'))

/** How this page names what the terms of a policy name. */
export const termWords = ({ currency, nameOf, personOf }: Pick<Words, 'nameOf' | 'personOf'> & { currency: string }): Words => ({
  money: (minor) => moneyText(minor, currency),
  nameOf,
  personOf,
  typeName: typeLabel,
})

/** What a policy does, in one sentence: the service's own words, with this page's names. `bound`: the stored policy, if there is one. */
export const policySentence = (
  terms: PolicyWire,
  bound: Bound | null,
  names: { currency: string; nameOf: Words['nameOf'] },
): string => sentenceOf(terms, { ...termWords({ ...names, personOf: () => '' }), boundTo: bound && boundTo(bound) })

export const answerOptions = <Answer extends RuleAnswer>(answers: readonly Answer[]) =>
  answers.map((value) => ({ value, label: answerWords[value] }))

/** Lets money move or rules change: worth a second look. */
const powerful = true
const harmless = false

const rows: Readonly<Record<Permission, readonly [words: string, powerful: boolean]>> = {
  'account.read': ['See the account, its balance and history', harmless],
  'account.manage': ['Change the account and its sign-in methods', powerful],
  'key.manage': ['Create and revoke API keys', powerful],
  'grant.manage': ['Change and revoke keys and agents', powerful],
  'workspace.read': ['See the workspace and its members', harmless],
  'workspace.manage': ['Manage the workspace and its members', powerful],
  'beneficiary.read': ['See beneficiaries, with masked destinations', harmless],
  'beneficiary.manage': ['Add, change and archive beneficiaries', powerful],
  'policy.read': ['See policies and test payments', harmless],
  'policy.manage': ['Change and archive policies', powerful],
  'policy.create': ['Add policies', harmless],
  'payment.read': ['See payments', harmless],
  'payment.create': ['Make payments within its limits', powerful],
  'approval.read': ['See approvals', harmless],
  'approval.decide': ['Approve and reject payments', powerful],
  'mandate.read': ['See mandates', harmless],
  'mandate.manage': ['Revoke mandates', powerful],
  'topup.read': ['See top-ups', harmless],
  'topup.create': ['Start top-ups', harmless],
  'audit.read': ['See the activity', harmless],
}

export const wordsOfPermission = (permission: Permission): string => rows[permission][0]

export const isPowerful = (permission: Permission): boolean => rows[permission][1]
