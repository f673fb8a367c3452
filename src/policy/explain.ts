import { displayAmount, type Minor } from '../lib/money.ts'
import { quoted } from '../lib/text.ts'
import { ruleOf } from './rules.ts'
import type { Decision, TraceEntry, TraceSource } from './types.ts'

const kinds: Record<TraceSource['kind'], string> = {
  policy: 'policy',
  grant: 'key or agent',
  mandate: 'mandate',
  capability: 'account',
  rail: 'payment method',
}
const named = ({ kind, name }: TraceSource): string => (name === null ? `a ${kinds[kind]}` : `${kinds[kind]} ${quoted(name)}`)
const timestamp = (at: Date): string => at.toISOString().replace('.000Z', 'Z')

const sentence = (entry: TraceEntry, currency: string): string => {
  const amount = (minor: Minor | undefined) => displayAmount(minor ?? 0n, currency)
  return ruleOf(entry.rule).stops({
    source: named(entry.source),
    limit: amount(entry.limitMinor),
    used: amount(entry.usedMinor),
    requested: amount(entry.requestedMinor),
    resets: entry.resetsAt ? timestamp(entry.resetsAt) : 'an unknown time',
    needed: entry.requiredApprovals ?? 0,
    able: entry.eligibleApprovers ?? 0,
    day: 'today',
    month: 'this month',
    signed: entry.approvalProof === 'signature',
    passed: entry.outcome === 'allow',
  })
}

/** One sentence for a person: the first rule of the trace that decided, or else the rule that requires the most approvals. */
export const explain = (decision: Decision, currency: string): string => {
  if (decision.outcome === 'allow') return 'No policy blocks this.'
  const decisive = decision.trace.filter((entry) => entry.outcome === decision.outcome)
  const asksMost = decisive.find((entry) => entry.requiredApprovals === decision.requiredApprovals)
  const entry = decision.outcome === 'deny' ? decisive[0] : (asksMost ?? decisive[0])
  const reason = entry ? sentence(entry, currency) : 'A spending rule stops this payment.'
  const signed = decision.outcome === 'require_approval' && decision.approvalProof === 'signature'
  return signed ? `${reason} Only an approval by passkey or wallet counts.` : reason
}
