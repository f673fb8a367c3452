import type { Principal } from '../../auth/principal.ts'
import { type Db, inTx, statement, type Tx } from '../../db/client.ts'
import { invalidFields, notFound } from '../../lib/errors.ts'
import { periodsAt } from '../../policy/calendar.ts'
import { evaluate } from '../../policy/evaluate.ts'
import { payeesOfTotals, totalApplies } from '../../policy/scope-sql.ts'
import { effectiveTimeZone } from '../../policy/time-zone.ts'
import type { Decision, MandateStanding, Periods, PolicyRules } from '../../policy/types.ts'
import { unitOf } from '../../rails/rail.ts'
import { requireBeneficiaries } from '../beneficiaries/queries.ts'
import { mandateStanding, readMandate } from '../mandates/for-payments.ts'
import { loadContext, type PaymentContext } from '../payments/evaluation/context.ts'
import { findEarlier } from '../payments/evaluation/earlier.ts'
import { evaluationOf } from '../payments/evaluation/evaluation.ts'
import { proposedPolicyId } from '../policies/present.ts'
import { type PolicyTerms, policyTerms } from '../policies/rules.ts'
import { boundGrant } from '../policies/service.ts'
import type { Deps } from './deps.ts'
import { preconditionEntries } from './precondition-trace.ts'
import { type Replay, replayPolicy } from './replay.ts'
import type { Simulate } from './schema.ts'

export type Simulation = { decision: Decision | null; replay: Replay | null }

/** What a policy would have counted by now if it had existed before: the same sums that seeding would charge to it. */
const usageNow = statement(
  'simulation.usage',
  `select coalesce(sum(t.used_minor) filter (where t.day = $2::date), 0)::text as day, coalesce(sum(t.used_minor), 0)::text as month
   from spending_totals t cross join (select $4::text[] as payment_types, $5::uuid[] as beneficiary_ids, $6::uuid as binds_grant_id) as s
   where t.workspace_id = $1 and t.payee_id = any(${payeesOfTotals('$5::uuid[]')})
     and t.day >= $3::date and t.day < ($3::date + interval '1 month') and ${totalApplies('s', 't')}`,
)

const proposedRules = async (
  tx: Tx,
  principal: Principal,
  terms: PolicyTerms,
  name: string,
  periods: Periods,
): Promise<PolicyRules> => {
  const bindsGrantId = boundGrant(principal)
  const values = [principal.workspace.id, periods.day, periods.month, terms.paymentTypes, terms.beneficiaryIds, bindsGrantId]
  const [row] = await tx.query<{ day: string; month: string }>(usageNow, values)
  return {
    ...terms,
    id: proposedPolicyId,
    name,
    version: 0,
    bindsGrantId,
    usage: { dayMinor: BigInt(row?.day ?? 0), monthMinor: BigInt(row?.month ?? 0) },
  }
}

type Simulated = { input: Simulate; proposed: PolicyRules | null; standing: MandateStanding; periods: Periods; at: Date }

const decideNow = async (
  db: Db,
  deps: Pick<Deps, 'config' | 'rails'>,
  principal: Principal,
  { input, proposed, standing, periods, at }: Simulated,
): Promise<Decision | null> => {
  const { beneficiary_id: beneficiaryId, amount_minor: amountMinor } = input
  if (beneficiaryId === undefined || amountMinor === undefined) return null
  const workspaceId = principal.workspace.id
  const lineage = principal.grant?.lineage ?? []
  const named = input.account_reference ?? null
  // Of two ids that name nothing, the beneficiary is the one to report: the mandate is waited for after it.
  const reading = input.mandate_id ? readMandate(db, workspaceId, input.mandate_id) : null
  reading?.catch(() => undefined)
  const [loaded, [earlier]] = await Promise.all([
    loadContext(db, {
      workspaceId,
      lineage,
      beneficiaryId,
      accountReference: named,
      periods,
      withSigners: proposed?.approvalProof === 'signature',
    }),
    findEarlier(db, [{ beneficiaryId, amountMinor, accountReference: named }], at),
  ])
  if (!loaded) throw notFound('beneficiary_id')
  const mandate = await reading
  const context: PaymentContext = proposed ? { ...loaded, policies: [...loaded.policies, proposed] } : loaded
  const paymentType = input.payment_type ?? context.beneficiary.rail
  const request = {
    workspaceId,
    initiatorAccountId: principal.accountId,
    lineage,
    amountMinor,
    paymentType,
    at,
    earlier: earlier ?? null,
    duplicateIsIntended: false,
    onDuplicate: null,
    duplicateWindowSeconds: deps.config.DUPLICATE_WINDOW_SECONDS,
    unitMinor: unitOf(deps.rails, context.beneficiary.rail),
  }
  const decision = evaluate(evaluationOf(context, request, periods, mandate && { ...mandate.rules, standing }))
  // A missing account reference does not decide whether the payment is allowed.
  const reference = named ?? (context.accountReference === null && context.beneficiary.accountReferenceRequired ? '-' : null)
  const failed = preconditionEntries(
    { amountMinor, paymentType, accountReference: reference },
    context,
    deps.rails,
    deps.config.CURRENCY,
    principal.capabilities.payments,
  )
  if (failed.length === 0) return decision
  const { remedy: _, ...rest } = decision
  return { ...rest, outcome: 'deny', trace: [...failed.map((entry) => ({ ...entry, decisive: true })), ...decision.trace] }
}

const required = (input: Simulate): void => {
  if (input.replay_days !== undefined && !input.policy)
    throw invalidFields({ path: 'policy', message: 'is required with replay_days' })
  if (input.replay_days !== undefined && input.beneficiary_id === undefined && input.amount_minor === undefined) return
  if (input.beneficiary_id === undefined) throw invalidFields({ path: 'beneficiary_id', message: 'is required' })
  if (input.amount_minor === undefined) throw invalidFields({ path: 'amount_minor', message: 'is required' })
}

/**
 * Decides as a payment would be decided now, by the same engine with the same numbers, and writes nothing. With a policy that does not exist
 * yet, all that it reads is of one transaction; without one a single statement reads the state.
 */
export const simulate = async (
  deps: Pick<Deps, 'clock' | 'config' | 'contractWallets' | 'db' | 'rails'>,
  principal: Principal,
  input: Simulate,
): Promise<Simulation> => {
  required(input)
  const standing = await mandateStanding(deps, principal.workspace.id, input.mandate_id)
  if (!input.policy) {
    const at = deps.clock.now()
    const periods = periodsAt(at, effectiveTimeZone(principal.workspace.zone, at))
    return { decision: await decideNow(deps.db, deps, principal, { input, proposed: null, standing, periods, at }), replay: null }
  }
  return inTx(deps.db, async (tx) => {
    await tx.query('set transaction read only')
    const { at } = tx
    const timeZone = effectiveTimeZone(principal.workspace.zone, at)
    const periods = periodsAt(at, timeZone)
    const terms = input.policy && policyTerms(input.policy)
    if (terms) await requireBeneficiaries(tx, principal.workspace.id, terms.beneficiaryIds, 'policy.beneficiary_ids')
    const proposed = terms ? await proposedRules(tx, principal, terms, input.policy?.name ?? 'Proposed policy', periods) : null
    const decision = await decideNow(tx, deps, principal, { input, proposed, standing, periods, at })
    const replay =
      proposed && input.replay_days !== undefined
        ? await replayPolicy(tx, principal, proposed, {
            days: input.replay_days,
            at,
            timeZone,
            duplicateWindowSeconds: deps.config.DUPLICATE_WINDOW_SECONDS,
          })
        : null
    return { decision, replay }
  })
}
