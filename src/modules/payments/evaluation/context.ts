import type { Db } from '../../../db/client.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { GrantRules, Periods, PolicyRules, Usage } from '../../../policy/types.ts'
import { type BeneficiaryState, type LockedState, readState, usageKey, type WorkspaceState } from './state.ts'

/** What one payment's decision is based on. */
export type PaymentContext = {
  workspace: WorkspaceState
  owner: { status: string; paymentsEnabled: boolean }
  beneficiary: BeneficiaryState
  /** Root first. */
  grants: (GrantRules & { frozen: boolean; revoked: boolean })[]
  policies: PolicyRules[]
  approverAccountIds: readonly Uuid[]
}

export type ContextQuery = { workspaceId: Uuid; lineage: readonly Uuid[]; beneficiaryId: Uuid; periods: Periods }

const usageOf = ({ usage }: LockedState, id: Uuid, periods: Periods): Usage => ({
  dayMinor: usage.get(usageKey(id, 'day', periods.day)) ?? 0n,
  monthMinor: usage.get(usageKey(id, 'month', periods.month)) ?? 0n,
})

/** The part of the state that decides one payment; undefined when the workspace has no such beneficiary. */
export const contextOf = (state: LockedState, query: ContextQuery): PaymentContext | undefined => {
  const { workspaceId, lineage, beneficiaryId, periods } = query
  const workspace = state.workspaces.get(workspaceId)
  const owner = workspace && state.owners.get(workspace.ownerId)
  const beneficiary = state.beneficiaries.get(beneficiaryId)
  if (!workspace || !owner || beneficiary?.workspaceId !== workspaceId) return undefined
  const grants = lineage.flatMap((id) => state.grants.get(id) ?? [])
  return {
    workspace,
    owner,
    beneficiary,
    grants: grants.sort((a, b) => a.depth - b.depth).map((grant) => ({ ...grant, usage: usageOf(state, grant.id, periods) })),
    policies: (state.policies.get(workspaceId) ?? []).map((policy) => ({ ...policy, usage: usageOf(state, policy.id, periods) })),
    approverAccountIds: workspace.approverAccountIds,
  }
}

/** The context of one payment alone: for a simulation, and for the check before a payment is sent. */
export const loadContext = async (db: Db, query: ContextQuery): Promise<PaymentContext | undefined> => {
  const state = await readState(db, {
    workspaceIds: [query.workspaceId],
    grantIds: query.lineage,
    beneficiaryIds: [query.beneficiaryId],
    periods: [query.periods],
  })
  return contextOf(state, query)
}
