import type { Schemas } from '../../../client/src/route-types.ts'
import { ofRequest, type RuleAnswer } from '../../../src/lib/policy-answers.ts'
import type { PolicyWire } from '../../../src/policy/fields.ts'
import { ruleOf } from '../../../src/policy/rules.ts'
import { policySentence as sentenceOf } from '../../../src/policy/sentence.ts'
import type { Words } from '../../../src/policy/term-words.ts'
import { readableMessage, withoutIds } from './field-words.ts'
import { t } from './language.ts'
import { typeLabel } from './rails.ts'
import { isRuleText, tRule } from './rule-texts.ts'
import { periodWords, shortTime } from './time.ts'
import { capitalized, listWords, moneyText } from './words.ts'

export type Decision = Schemas['Decision']
export type TraceEntry = NonNullable<Decision['trace']>[number]

/** Approval threshold suggested for a first agent. */
export const starterThreshold = '500000'

const kinds: Readonly<Record<TraceEntry['source']['kind'], string>> = {
  policy: tRule('source.policy'),
  grant: tRule('source.grant'),
  mandate: t('mandate'),
  capability: t('nav.account'),
  rail: tRule('source.rail'),
}

/** "Policy “Office”": the source of a rule. */
export const sourceWords = ({ source, rule }: Pick<TraceEntry, 'source' | 'rule'>): string => {
  const { kind, name } = source
  if (rule === 'eligible_approvers') return tRule('approvers')
  if (kind === 'capability') return t('nav.account')
  if (name === ofRequest) return tRule('the_request')
  if (kind === 'rail') return name ? typeLabel(name) : kinds.rail
  return name ? `${kinds[kind]} “${name}”` : kinds[kind]
}

/** A line of the trace. `at`: time of the check, because used amounts are of that day or month. */
export const traceWords = (entry: TraceEntry, currency: string, at: number): string => {
  const { rule, outcome, required_approvals: needed = 0, eligible_approvers: able = 0 } = entry
  const money = (minor: string | undefined) => moneyText(minor ?? '0', currency)
  const passed = rule === 'approval_threshold' ? needed === 0 : outcome === 'allow'
  const key = `${rule}.${passed ? 'passed' : 'stopped'}`
  return capitalized(
    tRule(isRuleText(key) ? key : `other.${passed ? 'passed' : 'stopped'}`, {
      limit: money(entry.limit_minor),
      used: money(entry.used_minor),
      requested: money(entry.requested_minor),
      resets: entry.resets_at ? shortTime(entry.resets_at) : tRule('later'),
      approvals: t('approvals_count', { count: rule === 'required_approval_count' ? Math.max(1, needed) : needed }),
      people: able === 0 ? tRule('people.none') : tRule('people', { count: able }),
      named: entry.approver_ids?.length ? tRule('named') : '',
      signed: entry.approval_proof === 'signature' ? tRule('signed') : '',
      ...periodWords(at),
    }),
  )
}

/** The service's explanation, with times in the workspace's zone. If a rail refuses, it is a message about a field. */
export const decisionReason = ({ explanation }: Pick<Decision, 'explanation'>): string => {
  const text = withoutIds(explanation).replace(/\bat (\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (_match, instant: string) =>
    shortTime(instant),
  )
  return /^[a-z_]+: /.test(text) ? `${readableMessage(text)}.` : text
}

/** Largest amount that the hard limits allow with approval. */
const maxWithApproval = (trace: readonly TraceEntry[]): string | null => {
  const rooms = trace.flatMap(({ rule, limit_minor: limit, used_minor: used }) => {
    return limit === undefined || ruleOf(rule).bound !== 'limit' ? [] : [BigInt(limit) - BigInt(used ?? '0')]
  })
  const least = rooms.reduce<bigint | null>((lowest, room) => (lowest === null || room < lowest ? room : lowest), null)
  return least !== null && least > 0n ? least.toString() : null
}

/** Smallest changes that would let the payment pass. Never an amount below an approval threshold: that teaches splitting. */
export const remedyWords = ({ remedy, trace }: Pick<Decision, 'remedy' | 'trace'>, currency: string): string[] => {
  if (!remedy) return []
  const asks = (trace ?? []).some(({ outcome }) => outcome === 'require_approval')
  const now = asks ? null : remedy.max_amount_minor
  const withApproval = asks ? maxWithApproval(trace ?? []) : null
  return [
    ...(now ? [tRule('remedy.less', { amount: moneyText(now, currency) })] : []),
    ...(withApproval ? [tRule('remedy.approval', { amount: moneyText(withApproval, currency) })] : []),
    ...(remedy.passes_at ? [tRule('remedy.later', { at: shortTime(remedy.passes_at) })] : []),
    ...remedy.changes.flatMap(({ source, rule, to_minor: to }) => {
      const { raise } = ruleOf(rule)
      return to && raise
        ? [
            tRule('remedy.raise', {
              source: sourceWords({ source, rule }),
              raise: tRule(`raise.${rule as 'daily_limit'}`),
              amount: moneyText(to, currency),
            }),
          ]
        : []
    }),
  ]
}

const newPayeeWords = {
  allow: tRule('payees.allow'),
  require_approval: tRule('payees.ask'),
  deny: tRule('payees.deny'),
} as const

const limitParts = [
  ['per_payment_limit_minor', 'limit.payment'],
  ['daily_limit_minor', 'limit.day'],
  ['monthly_limit_minor', 'limit.month'],
  ['total_limit_minor', 'limit.total'],
  ['approval_threshold_minor', 'limit.approval'],
] as const

/** Limits in one line: "KES 500.00 per payment, KES 2,000.00 a day". */
export const controlsWords = (
  controls: Schemas['SpendingControls'],
  currency: string,
  nameOf: (id: string) => string,
): string => {
  const parts = [
    ...limitParts.flatMap(([name, key]) => {
      const minor = controls[name]
      return minor === undefined ? [] : [tRule(key, { amount: moneyText(minor, currency) })]
    }),
    ...(controls.payment_types ? [tRule('only', { names: listWords(controls.payment_types.map(typeLabel), 'or') })] : []),
    ...(controls.new_payees ? [newPayeeWords[controls.new_payees]] : []),
    ...(controls.beneficiary_ids ? [tRule('only_to', { names: listWords(controls.beneficiary_ids.map(nameOf), 'or') })] : []),
  ]
  return parts.length > 0 ? parts.join(', ') : tRule('no_limits')
}

type Bound = Pick<Schemas['SpendingPolicy'], 'binds' | 'created_by'>

/** Label of the key or agent that the policy binds: the one that created it. */
const boundTo = ({ binds, created_by: { label } }: Bound): string | null => (binds === 'all' ? null : (label ?? tRule('a_key')))

/** Formatters for policy terms, with this page's names. */
export const termWords = ({ currency, nameOf, personOf }: Pick<Words, 'nameOf' | 'personOf'> & { currency: string }): Words => ({
  money: (minor) => moneyText(minor, currency),
  nameOf,
  personOf,
  typeName: typeLabel,
})

/** A policy in one sentence: the service's words with this page's names. `bound`: the stored policy, if any. */
export const policySentence = (
  terms: PolicyWire,
  bound: Bound | null,
  names: { currency: string; nameOf: Words['nameOf'] },
): string => sentenceOf(terms, { ...termWords({ ...names, personOf: () => '' }), boundTo: bound && boundTo(bound) })

export const answerWords = (answer: RuleAnswer): string => tRule(`answer.${answer}`)

export const answerOptions = <Answer extends RuleAnswer>(answers: readonly Answer[]) =>
  answers.map((value) => ({ value, label: answerWords(value) }))
