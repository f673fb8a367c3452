import type { Db } from '../../../db/client.ts'
import { together } from '../../../db/together.ts'
import { referenceKey } from '../../../lib/account-reference.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { DuplicateAnswer } from '../../../lib/policy-answers.ts'
import type {
  EarlierPayment,
  Evaluation,
  GrantRules,
  MandateRules,
  PayeePast,
  PaymentFacts,
  Periods,
  PolicyRules,
  Unapproved,
  Usage,
} from '../../../policy/types.ts'
import { readPast } from './past.ts'
import {
  type BeneficiaryState,
  familyDay,
  type LockedState,
  readState,
  type StateQuery,
  usageKey,
  type WorkspaceState,
} from './state.ts'

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

/** A payment as the policy engine sees it, before it is created. */
export type RequestedPayment = PayeePast &
  Pick<Evaluation, 'listTotals'> &
  Pick<PaymentFacts, 'otherName'> & {
    workspaceId: Uuid
    initiatorAccountId: Uuid
    lineage: readonly Uuid[]
    amountMinor: Minor
    paymentType: string
    at: Date
    duplicateIsIntended: boolean
    onDuplicate: DuplicateAnswer | null
    /** How far back the service looks for a payment that looks the same where no policy says otherwise. */
    duplicateWindowSeconds: number
    /** Amounts of the rail are multiples of this. */
    unitMinor: Minor
  }

/** The input of the pure engine: numbers that the transaction has locked. */
export const evaluationOf = (
  context: PaymentContext,
  request: RequestedPayment,
  periods: Periods,
  mandate: MandateRules | null,
): Evaluation => ({
  payment: {
    amountMinor: request.amountMinor,
    paymentType: request.paymentType,
    rail: context.beneficiary.rail,
    beneficiaryId: context.beneficiary.id,
    payeeBeneficiaryIds: context.beneficiary.payeeBeneficiaryIds,
    paybillBeneficiaryIds: context.beneficiary.paybillBeneficiaryIds,
    payee: { ...context.beneficiary.payee, typicalAmountMinor: request.typicalAmountMinor },
    payeeIsFixed: !context.beneficiary.takesAnyReference,
    ...(request.otherName && { otherName: request.otherName }),
    workspaceId: request.workspaceId,
    initiatorAccountId: request.initiatorAccountId,
    grantLineage: request.lineage,
    at: request.at,
  },
  policies: context.policies,
  grants: context.grants,
  mandate,
  approvers: { eligibleAccountIds: context.approverAccountIds, signingAccountIds: context.signingAccountIds },
  periods,
  capabilities: { payments: context.owner.paymentsEnabled },
  earlier: request.earlier,
  duplicateIsIntended: request.duplicateIsIntended,
  onDuplicate: request.onDuplicate,
  unapproved: context.unapproved,
  ...(request.listTotals && { listTotals: request.listTotals }),
  unitMinor: request.unitMinor,
  duplicateWindowSeconds: request.duplicateWindowSeconds,
})

/** A repetition is meant only of the payment that it would repeat. */
export const duplicateGuard = (
  asked: { duplicate_of?: Uuid | null | undefined; on_duplicate?: DuplicateAnswer | undefined },
  earlier: EarlierPayment | null,
  /** Said for a whole batch. */
  intended?: boolean,
): Pick<RequestedPayment, 'earlier' | 'duplicateIsIntended' | 'onDuplicate'> => ({
  earlier,
  duplicateIsIntended: intended ?? (earlier !== null && asked.duplicate_of === earlier.paymentId),
  onDuplicate: asked.on_duplicate ?? null,
})

// What decisions depend on, for who only looks: nothing is locked, and what several ask for in one turn is read once.

const merged = (queries: readonly StateQuery[]): StateQuery => {
  const all = <Item>(itemsOf: (query: StateQuery) => readonly Item[]): Item[] => [...new Set(queries.flatMap(itemsOf))]
  return {
    workspaceIds: all(({ workspaceIds }) => workspaceIds),
    grantIds: all(({ grantIds }) => grantIds),
    beneficiaryIds: all(({ beneficiaryIds }) => beneficiaryIds),
    accountReferences: all(({ accountReferences }) => accountReferences),
    periods: all(({ periods }) => periods),
    at: new Date(Math.min(...queries.map(({ at }) => at.getTime()))),
    withSigners: queries.some(({ withSigners }) => withSigners),
  }
}

/** What several look at in one turn is one state, of which each takes its own part and changes nothing. */
export const readStateTogether = together(async (db, queries: readonly StateQuery[]) => {
  const state = await readState(db, merged(queries))
  return queries.map(() => state)
})

/** The context of one payment alone: for a simulation. */
export const loadContext = async (db: Db, query: ContextQuery & Pick<StateQuery, 'at'>): Promise<PaymentContext | undefined> => {
  const state = await readStateTogether(db, {
    workspaceIds: [query.workspaceId],
    grantIds: query.lineage,
    beneficiaryIds: [query.beneficiaryId],
    accountReferences: [query.accountReference],
    periods: [query.periods],
    at: query.at,
    withSigners: query.withSigners ?? false,
  })
  return contextOf(state, query)
}

/** What one payment's payee got before. */
export const readPastTogether = together(readPast)
