import { type Db, statement } from '../../../db/client.ts'
import { countedPaymentsSql } from '../../../db/transitions.ts'
import { lookalikeHashSql, referenceKey, referenceKeySql } from '../../../lib/account-reference.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { fieldsOf } from '../../../lib/lists.ts'
import type { Minor } from '../../../lib/money.ts'
import type { DuplicateAnswer } from '../../../lib/policy-answers.ts'
import { typicalAmount } from '../../../policy/payees.ts'
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
import { hasAccountsSql, lastPaidSql, samePayeeIds } from '../../beneficiaries/payee-queries.ts'
import {
  type BeneficiaryState,
  familyDay,
  type LockedState,
  readState,
  type StateQuery,
  usageKey,
  type WorkspaceState,
} from './state.ts'

/** The longest window that a policy may set, in seconds: no check looks at older payments. */
const longestWindowSeconds = 604_800

/** Two invoices over the same amount differ in their references. At a paybill the reference is the account that is paid. */
export type Lookalike = { beneficiaryId: Uuid; amountMinor: Minor; accountReference: string | null; at: Date }

const reference = 'coalesce(b.account_reference, r.reference)'
const looksTheSame = (payment: string): string =>
  `${lookalikeHashSql(`${payment}.amount_minor`, `${payment}.account_reference`)} = ${lookalikeHashSql('r.amount', reference)}
          and ${payment}.amount_minor = r.amount
          and ${referenceKeySql(`${payment}.account_reference`)} is not distinct from ${referenceKeySql(reference)}`

// One plan is made for lists of any length, so each row is looked up by itself (`offset 0`), as in `payments.state`.
const read = statement(
  'payments.past',
  `select r.n, p.id, p.created_at, p.is_unknown, ${lastPaidSql({ payee: 'own', rail: 'b.payment_rail', reference })} as last_paid
   from unnest($1::uuid[], $2::bigint[], $3::text[], $4::timestamptz[]) with ordinality as r(beneficiary, amount, reference, since, n)
   cross join lateral (select * from beneficiaries where id = r.beneficiary offset 0) as b
   cross join lateral (select * from payees where id = b.payee_id offset 0) as own
   left join lateral (
     select p.id, p.created_at, p.is_unknown
     from unnest(case when ${hasAccountsSql('b.payment_rail')}
       then ${samePayeeIds('own', 'r.reference')} else array[own.id] end) as payee(id)
     cross join lateral (
       (select p.id, p.created_at, false as is_unknown from payments p
        where p.payee_id = payee.id and ${looksTheSame('p')} and p.created_at > r.since
          and (p.status = 'scheduled' or p.status in ${countedPaymentsSql})
        order by p.created_at desc, p.id desc limit 1)
       union all
       (select p.id, p.created_at, true from payments p
        where p.payee_id = payee.id and p.status = 'unknown' and ${looksTheSame('p')}
        order by p.created_at desc, p.id desc limit 1)) as p
     order by p.is_unknown desc, p.created_at desc, p.id desc limit 1) as p on true`,
  'record',
)

type Row = { n: bigint; id: Uuid | null; created_at: Date; is_unknown: boolean; last_paid: Minor[] }

const earlierOf = ({ id, created_at: createdAt, is_unknown: isUnknown }: Row): EarlierPayment | null =>
  id === null ? null : { paymentId: id, createdAt, isUnknown }

/**
 * For each payment, in the same order: what its payee usually gets, and the newest payment that looks the same and counts. One whose outcome
 * is unknown comes first, however old it is: to repeat it could pay twice.
 */
export const readPast = async (db: Db, requests: readonly Lookalike[]): Promise<PayeePast[]> => {
  const rows = await db.query<Row>(read, [
    ...fieldsOf(requests, 'beneficiaryId', 'amountMinor', 'accountReference'),
    requests.map(({ at }) => secondsAfter(at, -longestWindowSeconds)),
  ])
  const byNumber = new Map(rows.map((row) => [Number(row.n), row]))
  return requests.map((_, index) => {
    const row = byNumber.get(index + 1)
    return { earlier: row ? earlierOf(row) : null, typicalAmountMinor: row ? typicalAmount(row.last_paid) : null }
  })
}

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

/** The context of one payment alone: for a simulation. */
export const loadContext = async (db: Db, query: ContextQuery & Pick<StateQuery, 'at'>): Promise<PaymentContext | undefined> => {
  const state = await readState(db, {
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
