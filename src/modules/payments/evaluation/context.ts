import { referenceKey } from '../../../lib/account-reference.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { applicablePolicies } from '../../../policy/findings.ts'
import type {
  Approvers,
  Evaluation,
  GrantRules,
  MandateRules,
  PayeeFacts,
  PaymentFacts,
  PolicyRules,
  Usage,
} from '../../../policy/types.ts'
import { payouts } from '../../../rails/definitions.ts'
import { type BeneficiaryState, familyDay, type LockedState, type PaidTo, usageKey, type WorkspaceState } from './state.ts'

export type PaymentContext = Pick<Evaluation, 'policies' | 'unapproved' | 'periods'> & {
  workspace: WorkspaceState
  holder: { status: string; paymentsEnabled: boolean }
  beneficiary: BeneficiaryState
  /** The effective account reference: the beneficiary's own, or else the payment's. */
  accountReference: string | null
  namedReference: string | null
  lineage: readonly Uuid[]
  /** The grants of `lineage`, root first. */
  grants: (GrantRules & { ended: boolean })[]
}

/** For an account at a paybill, returns the account's own payee, if there is one, so that its limits and freezes apply. */
export const resolvePaybillAccount = (beneficiary: BeneficiaryState, accountReference: string | null): BeneficiaryState => {
  if (accountReference === null || !beneficiary.takesAnyReference) return beneficiary
  const key = referenceKey(accountReference)
  const account = beneficiary.accounts.find((candidate) => candidate.referenceKey === key)
  if (!account) return beneficiary
  return {
    ...beneficiary,
    payeeId: account.payeeId,
    frozen: beneficiary.frozen || account.frozen,
    payeeBeneficiaryIds: account.beneficiaryIds,
    paybillBeneficiaryIds: beneficiary.payeeBeneficiaryIds,
  }
}

/** Undefined if the workspace has no such beneficiary. `withoutUsage`: for a scheduled payment, which counts only once due. */
export const contextOf = (
  state: LockedState,
  { workspaceId, beneficiaryId, accountReference }: PaidTo,
  { lineage, periods, withoutUsage = false }: Pick<PaymentContext, 'lineage' | 'periods'> & { withoutUsage?: boolean },
): PaymentContext | undefined => {
  const workspace = state.workspaces.get(workspaceId)
  const holder = workspace && state.holders.get(workspace.balanceAccountId)
  const named = state.beneficiaries.get(beneficiaryId)
  if (!workspace || !holder || named?.workspaceId !== workspaceId) return undefined
  const beneficiary = resolvePaybillAccount(named, accountReference)
  const used = (id: Uuid, period: 'day' | 'month' | 'total', start: string | null): Minor =>
    withoutUsage ? 0n : (state.usage.get(usageKey(id, period, start)) ?? 0n)
  const usageOf = (id: Uuid): Usage => ({
    dayMinor: used(id, 'day', periods.day),
    monthMinor: used(id, 'month', periods.month),
    totalMinor: used(id, 'total', null),
  })
  const grants = lineage.flatMap((id) => state.grants.get(id) ?? [])
  // Without this error, the missing grant's limits and revocation would be ignored.
  if (grants.length < lineage.length) throw new Error('a grant that a payment rests on was not read')
  return {
    workspace,
    holder,
    beneficiary,
    accountReference: beneficiary.accountReference ?? accountReference,
    namedReference: accountReference,
    grants: grants.sort((a, b) => a.depth - b.depth).map((grant) => ({ ...grant, usage: usageOf(grant.id) })),
    lineage,
    policies: (state.policies.get(workspaceId) ?? []).map((policy) => ({ ...policy, usage: usageOf(policy.id) })),
    periods,
    unapproved: withoutUsage ? [] : (state.unapproved.get(familyDay(beneficiary.familyId, periods.day)) ?? []),
  }
}

/** The members who can approve a payment or batch to which these policies apply. */
export const approversUnder = ({ approvers }: WorkspaceState, policies: readonly Pick<PolicyRules, 'id'>[]): Approvers => {
  const counting = approvers.filter(({ notUnder }) => !policies.some(({ id }) => notUnder.includes(id)))
  const idsOf = (some: typeof counting) => some.map(({ id }) => id)
  return { eligibleAccountIds: idsOf(counting), signingAccountIds: idsOf(counting.filter(({ canSign }) => canSign)) }
}

/** The part of a decision's input that comes from the request instead of the state. */
type RequestInput = Pick<PaymentFacts, 'initiatorAccountId' | 'amountMinor' | 'paymentType' | 'at' | 'otherName'> &
  Pick<PayeeFacts, 'typicalAmountMinor'> &
  Pick<Evaluation, 'earlier' | 'duplicateIsIntended' | 'onDuplicate' | 'duplicateWindowSeconds' | 'listTotals'>

/** Input of the decision engine. The field order matches the dictionary with which `pack` compresses the stored input. */
export const evaluationOf = (
  { workspace, holder, beneficiary, lineage, grants, policies, periods, unapproved }: PaymentContext,
  { typicalAmountMinor, amountMinor, paymentType, initiatorAccountId, at, otherName, ...checks }: RequestInput,
  mandate: MandateRules | null,
): Evaluation => {
  const { earlier, duplicateIsIntended, onDuplicate, listTotals, duplicateWindowSeconds } = checks
  const { wholeUnits, minMinor, maxMinor } = payouts[beneficiary.rail].limits
  const payment: PaymentFacts = {
    amountMinor,
    paymentType,
    rail: beneficiary.rail,
    beneficiaryId: beneficiary.id,
    payeeBeneficiaryIds: beneficiary.payeeBeneficiaryIds,
    paybillBeneficiaryIds: beneficiary.paybillBeneficiaryIds,
    payee: { ...beneficiary.payee, typicalAmountMinor },
    payeeIsFixed: !beneficiary.takesAnyReference,
    workspaceId: workspace.id,
    initiatorAccountId,
    grantLineage: lineage,
    at,
    ...(otherName && { otherName }),
  }
  const applicable = applicablePolicies({ policies, payment })
  return {
    payment,
    policies,
    grants,
    mandate,
    approvers: approversUnder(workspace, applicable),
    periods,
    capabilities: { payments: holder.paymentsEnabled },
    earlier,
    duplicateIsIntended,
    onDuplicate,
    unapproved,
    ...(listTotals && { listTotals }),
    unitMinor: wholeUnits ? 100n : 1n,
    duplicateWindowSeconds,
    minMinor,
    maxMinor,
    ...(applicable.some(({ bindsGrantId }) => bindsGrantId !== null) && { boundPoliciesOnlyWarn: true as const }),
  }
}
