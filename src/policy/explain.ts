import { formatId } from '../lib/ids.ts'
import { displayAmount, type Minor } from '../lib/money.ts'
import { ofRequest } from '../lib/policy-answers.ts'
import { quoted } from '../lib/text.ts'
import type { VerificationStatus } from '../lib/verification.ts'
import { approvalsRequired, ceiling, type Finding, leastThatSuffices, mandateCounts, verdict } from './findings.ts'
import { ruleOf } from './rules.ts'
import type { Creator, Decision, Evaluation, Remedy, TraceEntry, TraceSource, Warning } from './types.ts'

const isUuid = (id: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)

const kinds: Record<TraceSource['kind'], string> = {
  policy: 'policy',
  grant: 'key or agent',
  mandate: 'mandate',
  capability: 'account',
  rail: 'payment method',
}
const named = ({ kind, name }: TraceSource): string => {
  if (name === null) return `a ${kinds[kind]}`
  return name === ofRequest ? name : `${kinds[kind]} ${quoted(name)}`
}

const sentence = (entry: TraceEntry, currency: string): string => {
  const amount = (minor: Minor | undefined) => displayAmount(minor ?? 0n, currency)
  return ruleOf(entry.rule).stops({
    source: named(entry.source),
    limit: amount(entry.limitMinor),
    used: amount(entry.usedMinor),
    requested: amount(entry.requestedMinor),
    resets: entry.resetsAt?.toISOString().replace('.000Z', 'Z') ?? 'an unknown time',
    needed: entry.requiredApprovals ?? 0,
    able: entry.eligibleApprovers ?? 0,
    named: (entry.approverIds ?? []).map((id) => (isUuid(id) ? formatId('account', id) : id)),
    signed: entry.approvalProof === 'signature',
  })
}

/** One sentence for a person. A denial gives its first decisive rule; otherwise, the rule that requires the most approvals. */
export const explain = (decision: Decision, currency: string): string => {
  if (decision.outcome === 'allow') return 'No policy blocks this.'
  const decisive = decision.trace.filter((entry) => entry.outcome === decision.outcome)
  const asksMost = decisive.find((entry) => entry.requiredApprovals === decision.requiredApprovals)
  const entry = decision.outcome === 'deny' ? decisive[0] : (asksMost ?? decisive[0])
  const reason = entry ? sentence(entry, currency) : 'A spending rule stops this payment.'
  const signed = decision.outcome === 'require_approval' && decision.approvalProof === 'signature'
  return signed ? `${reason} Only an approval by passkey or wallet counts.` : reason
}

/** `approvalsGiven`: by the mandate, if it fits or is changed to fit. `canBeApproved`: whether people can give the others. */
type Approvable = { approvalsGiven: number; canBeApproved: (amount: Minor) => boolean }

/** The largest allowed amount that the rail sends. Null if it would evade an approval that the requested one needs. */
const largestAllowed = (
  { payment: { amountMinor }, unitMinor, minMinor = 1n, maxMinor }: Evaluation,
  findings: readonly Finding[],
  givenFor: (finding: Finding) => number,
  canBeApproved: Approvable['canBeApproved'],
): Minor | null => {
  const [lowest] = findings.flatMap((finding) => ceiling(finding, givenFor(finding)) ?? []).sort((a, b) => (a < b ? -1 : 1))
  if (lowest === undefined) return null
  const most = maxMinor !== undefined && maxMinor < lowest ? maxMinor : lowest
  const whole = most - (most % unitMinor)
  const evades = findings.some((finding) => approvalsRequired(finding, amountMinor) > approvalsRequired(finding, whole))
  return whole >= minMinor && !evades && canBeApproved(whole) ? whole : null
}

const passesAt = (finding: Finding, amount: Minor): Date | undefined =>
  finding.kind !== 'cap' || finding.limitMinor >= amount ? finding.resetsAt : undefined

/** Null if waiting does not help. The latest reset suffices, because the last day of a month ends with the month. */
const whenItPasses = ({ payment, mandate }: Evaluation, blocking: readonly Finding[]): Date | null => {
  const resets = blocking.flatMap((finding) => passesAt(finding, payment.amountMinor) ?? [])
  if (resets.length === 0 || resets.length < blocking.length) return null
  const at = new Date(Math.max(...resets.map((reset) => reset.getTime())))
  return mandate && at >= mandate.expiresAt ? null : at
}

const settledByCount: ReadonlySet<string> = new Set(['possible_duplicate', 'unconfirmed_payee', 'payee_verification'])

/** Such rules require as many approvals as their policy or, by default, one, which a mandate gives. */
const isSettledByCount = (finding: Finding, blocking: readonly Finding[], approvalsGiven: number): boolean =>
  settledByCount.has(finding.rule) &&
  finding.kind === 'ask' &&
  approvalsGiven > 0 &&
  blocking.some(({ rule, source }) => rule === 'required_approval_count' && source.id === finding.source.id)

/**
 * The smallest change after which the payment is not denied, or needs no approval if it is not denied. Each blocking rule must
 * change, because it blocks alone. An approval rule blocks a denied payment only if too few people can approve the payment. More
 * approvers are never the remedy: they turn a denial into a wait, and rules that require them are listed anyway.
 */
export const remedyFor = (
  input: Evaluation,
  findings: readonly Finding[],
  { approvalsGiven, canBeApproved }: Approvable,
): Remedy => {
  const amount = input.payment.amountMinor
  const givenFor = (finding: Finding) => (mandateCounts(input, finding) ? approvalsGiven : 0)
  const stops = findings.filter((finding) => verdict(finding, amount, givenFor(finding)) !== 'allow')
  const denials = stops.filter((finding) => verdict(finding, amount, givenFor(finding)) === 'deny')
  const blocking = denials.length > 0 && canBeApproved(amount) ? denials : stops
  return {
    maxAmountMinor: largestAllowed(input, findings, givenFor, canBeApproved),
    changes: blocking
      .filter((finding) => !isSettledByCount(finding, blocking, givenFor(finding)))
      .map((finding) => {
        const toMinor = leastThatSuffices(finding, amount)
        return { source: finding.source, rule: finding.rule, ...(toMinor !== undefined && { toMinor }) }
      }),
    passesAt: whenItPasses(input, blocking),
  }
}

const who = ({ grantId, label }: Creator): string =>
  grantId === null ? 'a person' : label === null ? 'a key or an agent' : `the key or agent ${JSON.stringify(label)}`

const notConfirmed = {
  no_match: (name: string) => `The rail reports another name for this number: ${name}.`,
  match: (name: string) => `The rail reports this name: ${name}.`,
  close_match: (name: string) => `The rail reports a similar name: ${name}.`,
  unavailable: () => 'The rail reports no name for this number.',
  unverified: () => 'The registered name was not checked.',
} as const

export const nameWarning = (verification: VerificationStatus, name: string | null): string =>
  notConfirmed[verification](name ?? 'none')

export const isNameWarning = (sentence: string): boolean =>
  /^The (rail (reports|gave|was)|registered name was not) /.test(sentence)

const words: { readonly [Code in Warning['code']]: (warning: Extract<Warning, { code: Code }>, currency: string) => string } = {
  possible_duplicate: ({ createdAt }) =>
    `Possible duplicate of a payment made at ${createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC: same beneficiary, amount and reference.`,
  name_differs: ({ name, givenName }) => `The batch gives ${JSON.stringify(name)} another name: ${JSON.stringify(givenName)}.`,
  new_payee: ({ by }) => `The beneficiary was created by ${who(by)}, and no person has confirmed it.`,
  changed_payee: ({ by }) => `The name of the beneficiary was changed by ${who(by)}.`,
  similar_name: ({ name }) =>
    `First payment to this beneficiary, and its name looks like another beneficiary's: ${JSON.stringify(name)}.`,
  name_mismatch: ({ verification, name }) => nameWarning(verification, name),
  unusual_amount: ({ typicalAmountMinor }, currency) =>
    `The amount is more than five times the usual amount for this beneficiary, ${displayAmount(typicalAmountMinor, currency)}.`,
}

export const warningText = (warning: Warning, currency: string): string =>
  (words[warning.code] as (warning: Warning, currency: string) => string)(warning, currency)
