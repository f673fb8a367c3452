import type { Principal } from '../../auth/principal.ts'
import { checkPermission } from '../../http/authorize.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Minor } from '../../lib/money.ts'
import type { TraceEntry } from '../../policy/types.ts'
import type { Rails } from '../../rails/rail.ts'
import {
  checkBalance,
  checkPreconditions,
  checkRailRules,
  maySeeBalance,
  type PaymentTerms,
} from '../payments/create/preconditions.ts'
import type { PaymentContext } from '../payments/evaluation/context.ts'

/** What a payment would be refused with although no rule denies it, and its entries in the trace. */
export type Stop = { refusal: Refusal; entries: TraceEntry[] }

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

const stopOf = (check: () => void, entriesOf: (refusal: Refusal) => TraceEntry[]): Stop[] => {
  const refusal = refusalOf(check)
  return refusal ? [{ refusal, entries: entriesOf(refusal) }] : []
}

/** As the route of payments checks its caller: the simulation's own route asks for less. */
const checkCaller = (principal: Principal): void => {
  checkPermission(principal, ['payment.create'])
  if (principal.accountStatus === 'frozen') throw new Refusal('account_frozen')
}

const railEntries = (refusal: Refusal, context: PaymentContext): TraceEntry[] => {
  const fields = refusal.details?.fields as { path: string }[] | undefined
  return (fields ?? [{ path: refusal.code }]).map(({ path }) => entry('rail', context.beneficiary.rail, path))
}

/** What would stop a payment before any limit is checked, in the order in which a payment is refused. */
export const stopsBefore = (
  terms: PaymentTerms,
  context: PaymentContext,
  { rails, currency, principal }: { rails: Rails; currency: string; principal: Principal },
): Stop[] => [
  ...stopOf(
    () => checkCaller(principal),
    ({ code }) => [entry('capability', 'payments', code)],
  ),
  ...stopOf(
    () => checkPreconditions(context, principal.capabilities.payments),
    // The engine has its own entry for the owner's capability.
    ({ code }) =>
      code === 'capability_disabled' && !context.owner.paymentsEnabled ? [] : [entry('capability', 'payments', code)],
  ),
  ...stopOf(
    () => checkRailRules(terms, context, rails, currency),
    (refusal) => railEntries(refusal, context),
  ),
]

/** Too little money: what stops a payment last. */
export const stopAfter = (principal: Principal, funds: { available: Minor; requested: Minor }, currency: string): Stop[] =>
  stopOf(
    () => checkBalance(principal, funds, currency),
    () => [
      {
        ...entry('capability', 'balance', 'available_balance'),
        ...(maySeeBalance(principal) && { limitMinor: funds.available }),
        requestedMinor: funds.requested,
      },
    ],
  )
