import { referenceKey } from '../../../lib/account-reference.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { GrantRules, Periods, PolicyRules, Unapproved, Usage } from '../../../policy/types.ts'
import { type BeneficiaryState, type LockedState, usageKey, type WorkspaceState } from './state.ts'
import { familyDay } from './unapproved.ts'

/** What one payment's decision is based on. */
export type PaymentContext = {
  workspace: WorkspaceState
  owner: { status: string; paymentsEnabled: boolean }
  /** With the payee that is paid. */
  beneficiary: BeneficiaryState
  /** The account reference that is used: the beneficiary's own, else the payment's. */
  accountReference: string | null
  /** Root first. */
  grants: (GrantRules & { frozen: boolean; revoked: boolean })[]
  policies: PolicyRules[]
  approverAccountIds: readonly Uuid[]
  /** Read only where a policy asks for signatures. */
  signingAccountIds: readonly Uuid[]
  /** What was paid to the payee on this day without an approval. */
  unapproved: readonly Unapproved[]
}

export type ContextQuery = {
  workspaceId: Uuid
  lineage: readonly Uuid[]
  beneficiaryId: Uuid
  /** As the payment names it. */
  accountReference: string | null
  periods: Periods
  withSigners?: boolean
}

/** A payment that names an account at a paybill pays the payee that this account is, where there is one: its limits and freezes hold. */
export const paidBy = (beneficiary: BeneficiaryState, accountReference: string | null): BeneficiaryState => {
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

const usageOf = ({ usage }: LockedState, id: Uuid, periods: Periods): Usage => ({
  dayMinor: usage.get(usageKey(id, 'day', periods.day)) ?? 0n,
  monthMinor: usage.get(usageKey(id, 'month', periods.month)) ?? 0n,
})

/** The part of the state that decides one payment; undefined when the workspace has no such beneficiary. */
export const contextOf = (state: LockedState, query: ContextQuery): PaymentContext | undefined => {
  const { workspaceId, lineage, beneficiaryId, accountReference, periods } = query
  const workspace = state.workspaces.get(workspaceId)
  const owner = workspace && state.owners.get(workspace.ownerId)
  const named = state.beneficiaries.get(beneficiaryId)
  if (!workspace || !owner || named?.workspaceId !== workspaceId) return undefined
  const beneficiary = paidBy(named, accountReference)
  const grants = lineage.flatMap((id) => state.grants.get(id) ?? [])
  return {
    workspace,
    owner,
    beneficiary,
    accountReference: beneficiary.accountReference ?? accountReference,
    grants: grants.sort((a, b) => a.depth - b.depth).map((grant) => ({ ...grant, usage: usageOf(state, grant.id, periods) })),
    policies: (state.policies.get(workspaceId) ?? []).map((policy) => ({ ...policy, usage: usageOf(state, policy.id, periods) })),
    approverAccountIds: workspace.approverAccountIds,
    signingAccountIds: workspace.signingAccountIds,
    unapproved: state.unapproved.get(familyDay(beneficiary.familyId, periods.day)) ?? [],
  }
}

const unused: Usage = { dayMinor: 0n, monthMinor: 0n }

/** For what is scheduled: how much of the limits is left is decided when it is due. */
export const withoutUsage = (context: PaymentContext): PaymentContext => ({
  ...context,
  grants: context.grants.map((grant) => ({ ...grant, usage: unused })),
  policies: context.policies.map((policy) => ({ ...policy, usage: unused })),
  unapproved: [],
})
