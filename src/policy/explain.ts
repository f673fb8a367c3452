import { formatId } from '../lib/ids.ts'
import { displayAmount, type Minor } from '../lib/money.ts'
import { ofRequest } from '../lib/policy-answers.ts'
import { quoted } from '../lib/text.ts'
import type { VerificationStatus } from '../lib/verification.ts'
import { ruleOf } from './rules.ts'
import type { Creator, Decision, TraceEntry, TraceSource, Warning } from './types.ts'

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

const creatorInWords = ({ grantId, label }: Creator): string =>
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

const warningWords: {
  readonly [Code in Warning['code']]: (warning: Extract<Warning, { code: Code }>, currency: string) => string
} = {
  possible_duplicate: ({ createdAt }) =>
    `Possible duplicate of a payment made at ${createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC: same beneficiary, amount and reference.`,
  name_differs: ({ name, givenName }) => `The batch gives ${JSON.stringify(name)} another name: ${JSON.stringify(givenName)}.`,
  new_payee: ({ by }) => `The beneficiary was created by ${creatorInWords(by)}, and no person has confirmed it.`,
  changed_payee: ({ by }) => `The name of the beneficiary was changed by ${creatorInWords(by)}.`,
  similar_name: ({ name }) =>
    `First payment to this beneficiary, and its name looks like another beneficiary's: ${JSON.stringify(name)}.`,
  name_mismatch: ({ verification, name }) => nameWarning(verification, name),
  unusual_amount: ({ typicalAmountMinor }, currency) =>
    `The amount is more than five times the usual amount for this beneficiary, ${displayAmount(typicalAmountMinor, currency)}.`,
}

export const warningText = (warning: Warning, currency: string): string =>
  (warningWords[warning.code] as (warning: Warning, currency: string) => string)(warning, currency)
