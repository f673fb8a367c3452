import { maySeeBalance, type Principal } from '../../auth/principal.ts'
import { type Db, inTx, statement, type Tx } from '../../db/client.ts'
import { checkPermission } from '../../http/authorize.ts'
import { getBalance } from '../../ledger/ledger.ts'
import { catchRefusal, notFound, Refusal } from '../../lib/errors.ts'
import { feeOf } from '../../lib/fees.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import type { Minor } from '../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../policy/calendar.ts'
import { evaluate } from '../../policy/evaluate.ts'
import { countedTotals } from '../../policy/scope-sql.ts'
import type { Decision, Periods, PolicyRules, TraceEntry, Usage } from '../../policy/types.ts'
import { requireBeneficiaries } from '../beneficiaries/queries.ts'
import { checkMandateSignature, readMandate } from '../mandates/for-payments.ts'
import type { Parts } from '../parts.ts'
import { type DecisionRequest, type Deployment, paidTo, prepareEvaluation } from '../payments/create/decide.ts'
import { checkBalance, checkDueTime, checkPreconditions, checkRailRules, denialOf } from '../payments/create/preconditions.ts'
import type { PaymentContext } from '../payments/evaluation/context.ts'
import { readPast } from '../payments/evaluation/past.ts'
import { type LockedState, readState, usageKey } from '../payments/evaluation/state.ts'
import { findPayment } from '../payments/queries.ts'
import { proposedPolicyId } from '../policies/present.ts'
import { requireApprovers } from '../policies/queries.ts'
import { type PolicyTerms, policyTerms } from '../policies/rules.ts'
import { boundGrantOf } from '../policies/service.ts'
import type { Simulate } from './schema.ts'

const denyingEntry = (kind: 'capability' | 'rail', name: string, rule: string): TraceEntry => ({
  source: { kind, id: null, name },
  rule,
  outcome: 'deny',
})

/** Checks the caller as the payments route does, because the simulation's own route requires less. */
const checkCaller = (principal: Principal): void => {
  checkPermission(principal, ['payment.create'])
  if (principal.accountStatus === 'frozen') throw new Refusal('account_frozen')
}

/** Refusals for reasons other than a rule, in the order in which a payment would get them. */
const refusalsOf = (...checks: (() => void)[]): Refusal[] =>
  checks.map((check) => catchRefusal(check)).filter((result) => result instanceof Refusal)

/** The trace entries of a refusal for a reason other than a rule. */
const denyingEntriesOf = (
  { code, details }: Refusal,
  { beneficiary, holder }: PaymentContext,
  principal: Principal,
  { available, amountMinor, feeMinor }: { available: Minor; amountMinor: Minor; feeMinor: Minor },
): TraceEntry[] => {
  const fields = details?.fields as { path: string }[] | undefined
  if (fields) return fields.map(({ path }) => denyingEntry('rail', beneficiary.rail, path))
  if (code === 'provider_not_configured') return [denyingEntry('rail', beneficiary.rail, code)]
  if (code === 'insufficient_funds') {
    const limit = maySeeBalance(principal) && { limitMinor: available }
    return [{ ...denyingEntry('capability', 'balance', 'available_balance'), ...limit, requestedMinor: amountMinor + feeMinor }]
  }
  // The engine adds its own entry if payments are disabled for the account that holds the balance.
  return code === 'capability_disabled' && !holder.paymentsEnabled ? [] : [denyingEntry('capability', 'payments', code)]
}

/** `refusal`: the error that the payment would get; null if none. */
export type Simulated = { decision: Decision; refusal: Refusal | null; feeMinor: Minor }

/** The usage that a proposed policy would have now. Must equal the counters that seeding would create for it. */
const usageNow = statement('simulation.usage')`
  select coalesce(sum(t.used_minor) filter (where t.day = $1::date), 0)::bigint as "dayMinor",
     coalesce(sum(t.used_minor), 0)::bigint as "monthMinor", 0::bigint as "totalMinor" from ${countedTotals}`

const proposedRules = async (tx: Tx, principal: Principal, terms: PolicyTerms, name: string, periods: Periods) => {
  const bindsGrantId = boundGrantOf(principal)
  const values = [periods.day, periods.month, principal.workspace.id, terms.paymentTypes, terms.beneficiaryIds, bindsGrantId]
  const usage = only(await tx.query<Usage>(usageNow, values))
  return { ...terms, id: proposedPolicyId, name, version: 0, bindsGrantId, totalCountedSince: null, usage }
}

const withPolicy = (state: LockedState, workspaceId: Uuid, { usage, ...rules }: PolicyRules, { day, month }: Periods) => ({
  ...state,
  policies: new Map(state.policies).set(workspaceId, [...(state.policies.get(workspaceId) ?? []), { ...rules, workspaceId }]),
  usage: new Map(state.usage)
    .set(usageKey(rules.id, 'day', day), usage.dayMinor)
    .set(usageKey(rules.id, 'month', month), usage.monthMinor),
})

type SimulationInput = Pick<DecisionRequest, 'mandateSignature'> & {
  input: Simulate
  proposed: PolicyRules | null
  periods: Periods
  at: Date
}

const decideNow = async (
  db: Db,
  deployment: Deployment,
  principal: Principal,
  { input, proposed, mandateSignature, periods, at }: SimulationInput,
): Promise<Simulated> => {
  const { beneficiary_id: beneficiaryId, amount_minor: amountMinor } = input
  const { id: workspaceId, balanceAccountId } = principal.workspace
  const [read, past, { availableMinor: available }, duplicateOf, mandate] = await Promise.all([
    readState(db, {
      payments: [paidTo({ principal, input })],
      grantIds: principal.grant?.lineage ?? [],
      periods: [periods],
      at,
      includesProposedPolicy: proposed !== null,
    }),
    readPast(db, [input], at),
    getBalance(db, balanceAccountId),
    input.duplicate_of ? findPayment(db, { workspaceId, id: input.duplicate_of }) : null,
    input.mandate_id
      ? readMandate(db, workspaceId, input.mandate_id, { requester: principal.originGrantId, counted: null })
      : null,
  ])
  if (read.beneficiaries.get(beneficiaryId)?.workspaceId !== workspaceId) throw notFound('beneficiary_id')
  if (mandate === undefined) throw notFound('mandate_id')
  if (duplicateOf === undefined) throw notFound('duplicate_of')
  const { rails, config } = deployment
  const currency = config.CURRENCY
  const state = proposed ? withPolicy(read, workspaceId, proposed, periods) : read
  const request = { principal, input, mandate, mandateSignature, past: only(past) }
  const { context, evaluation } = prepareEvaluation(state, request, at, deployment)
  const decision = evaluate(evaluation)
  const earlyRefusals = refusalsOf(
    () => checkCaller(principal),
    () => checkPreconditions(context, principal),
    () => checkRailRules(evaluation.payment, context, rails, currency),
  )
  const feeMinor = feeOf(config.FEES, context.beneficiary.rail, amountMinor)
  const funds = { available, amountMinor, feeMinor }
  const balanceRefusals = input.execute_at ? [] : refusalsOf(() => checkBalance(principal, funds, currency))
  const { earlier } = request.past
  const denial = decision.outcome === 'deny' ? [denialOf(decision, { earlier, batchItem: undefined, currency })] : []
  const [refusal = null] = [...earlyRefusals, ...denial, ...balanceRefusals]
  const refusals = [...earlyRefusals, ...balanceRefusals]
  if (refusals.length === 0) return { decision, refusal, feeMinor }
  const { remedy: _, ...rest } = decision
  const entries = refusals.flatMap((each) => denyingEntriesOf(each, context, principal, funds))
  const failed = entries.map((each) => ({ ...each, decisive: true }))
  return { decision: { ...rest, outcome: 'deny', trace: [...failed, ...decision.trace] }, refusal, feeMinor }
}

const duePeriods = ({ workspace }: Principal, { execute_at: executeAt = null }: Simulate, at: Date): Periods => {
  checkDueTime(executeAt, at)
  const dueAt = executeAt ?? at
  return periodsAt(dueAt, effectiveTimeZone(workspace, dueAt))
}

/** Uses the same engine and state as payments, and writes nothing. With a proposed policy, one transaction reads everything. */
export const simulate = async (
  deps: Pick<Parts, 'clock' | 'config' | 'contractWallets' | 'db' | 'rails'>,
  principal: Principal,
  input: Simulate,
): Promise<Simulated> => {
  const mandateScope = { workspaceId: principal.workspace.id, requester: principal.originGrantId }
  const mandateSignature = await checkMandateSignature(deps, input.mandate_id, mandateScope)
  const decide = (db: Db, asked: Pick<SimulationInput, 'proposed' | 'at'>) =>
    decideNow(db, deps, principal, { input, mandateSignature, periods: duePeriods(principal, input, asked.at), ...asked })
  const { policy } = input
  if (!policy) return decide(deps.db, { proposed: null, at: deps.clock.now() })
  return inTx(deps.db, async (tx) => {
    await tx.query('set transaction read only')
    const { at } = tx
    const terms = policyTerms(policy, undefined, 'policy.')
    await Promise.all([
      requireBeneficiaries(tx, principal.workspace.id, terms.beneficiaryIds, 'policy.beneficiary_ids'),
      requireApprovers(tx, principal.workspace.id, terms.approverIds, { path: 'policy.approver_ids' }),
    ])
    const name = policy.name ?? 'Proposed policy'
    return decide(tx, { proposed: await proposedRules(tx, principal, terms, name, duePeriods(principal, input, at)), at })
  })
}
