import { Refusal } from '../../lib/errors.ts'
import type { TraceEntry } from '../../policy/types.ts'
import type { Rails } from '../../rails/rail.ts'
import { checkPreconditions, checkRailRules, type PaymentTerms } from '../payments/create/preconditions.ts'
import type { PaymentContext } from '../payments/evaluation/context.ts'

const entry = (kind: 'capability' | 'rail', name: string, rule: string): TraceEntry => ({
  source: { kind, id: null, name },
  rule,
  outcome: 'deny',
})

const refusalOf = (check: () => void): Refusal | undefined => {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

const railEntries = (refusal: Refusal, context: PaymentContext): TraceEntry[] => {
  const fields = refusal.details?.fields as { path: string }[] | undefined
  return (fields ?? [{ path: refusal.code }]).map(({ path }) => entry('rail', context.beneficiary.rail, path))
}

/** What would stop a payment before any limit is checked, as entries of a trace: a simulation explains what a payment refuses. */
export const preconditionEntries = (
  terms: PaymentTerms,
  context: PaymentContext,
  rails: Rails,
  currency: string,
  callerMayPay: boolean,
): TraceEntry[] => {
  const precondition = refusalOf(() => checkPreconditions(context, callerMayPay))
  const rail = refusalOf(() => checkRailRules(terms, context, rails, currency))
  // The engine has its own entry for the owner's capability.
  const capabilityEntries =
    precondition && !(precondition.code === 'capability_disabled' && !context.owner.paymentsEnabled)
      ? [entry('capability', 'payments', precondition.code)]
      : []
  return [...capabilityEntries, ...(rail ? railEntries(rail, context) : [])]
}
