import { type Db, statement } from '../../../db/client.ts'
import { countedPaymentsSql } from '../../../db/transitions.ts'
import { lookalikeHashSql, referenceKey, referenceKeySql } from '../../../lib/account-reference.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { fieldsOf } from '../../../lib/lists.ts'
import type { Minor } from '../../../lib/money.ts'
import { applicablePolicies } from '../../../policy/findings.ts'
import type {
  Approvers,
  Evaluation,
  GrantRules,
  MandateRules,
  PayeeFacts,
  PayeePast,
  PaymentFacts,
  PolicyRules,
  Usage,
} from '../../../policy/types.ts'
import { typicalAmount } from '../../../policy/warnings.ts'
import { payouts } from '../../../rails/definitions.ts'
import { hasAccountsSql, lastPaidSql, samePayeeIdsSql } from '../../beneficiaries/payee-queries.ts'
import type { CreatePayment } from '../schema.ts'
import { type BeneficiaryState, familyDay, type LockedState, type PaidTo, usageKey, type WorkspaceState } from './state.ts'

/** Seconds (7 days): the longest window that a policy may set. Older look-alikes matter only if their outcome is unknown. */
const longestWindowSeconds = 604_800

/** Fields that a duplicate repeats. The reference tells invoices of the same amount apart, or accounts at a paybill. */
type Lookalike = Pick<CreatePayment, 'beneficiary_id' | 'amount_minor' | 'account_reference'>

const reference = 'coalesce(b.account_reference, r.reference)'
const looksTheSame = (payment: string): string =>
  `${lookalikeHashSql(`${payment}.amount_minor`, `${payment}.account_reference`)} = ${lookalikeHashSql('r.amount', reference)}
          and ${payment}.amount_minor = r.amount
          and ${referenceKeySql(`${payment}.account_reference`)} is not distinct from ${referenceKeySql(reference)}`

// One plan serves arrays of any length, so `offset 0` forces a separate lookup for each row, as in `payments.state`.
const pastStatement = statement('payments.past', 'record')`
  select r.n::int, p.id as "paymentId", p.created_at as "createdAt", p.is_unknown as "isUnknown",
     ${lastPaidSql({ payee: 'own', rail: 'b.payment_rail', reference })} as "lastPaid"
   from unnest($1::uuid[], $2::bigint[], $3::text[], $4::timestamptz[]) with ordinality as r(beneficiary, amount, reference, since, n)
   cross join lateral (select * from beneficiaries where id = r.beneficiary offset 0) as b
   cross join lateral (select * from payees where id = b.payee_id offset 0) as own
   left join lateral (
     select p.id, p.created_at, bool_or(p.is_unknown) over () as is_unknown
     from unnest(case when ${hasAccountsSql('b.payment_rail')}
       then ${samePayeeIdsSql('own', 'r.reference')} else array[own.id] end) as payee(id)
     cross join lateral (
       (select p.id, p.created_at, false as is_unknown from payments p
        where p.payee_id = payee.id and ${looksTheSame('p')} and p.created_at > r.since
          and (p.status = 'scheduled' or p.status in ${countedPaymentsSql})
        order by p.created_at desc, p.id desc limit 1)
       union all
       (select p.id, p.created_at, true from payments p
        where p.payee_id = payee.id and p.status = 'unknown' and ${looksTheSame('p')}
        order by p.created_at desc, p.id desc limit 1)) as p
     order by p.created_at desc, p.id desc limit 1) as p on true`

type Row = { n: number; paymentId: Uuid | null; createdAt: Date; isUnknown: boolean; lastPaid: Minor[] }

/** The past of a payee that is not there, or that is left out. */
export const unknownPast: PayeePast = { earlier: null, typicalAmountMinor: null, lastAmountMinor: null }

const requestKeyOf = ({ beneficiary_id, amount_minor, account_reference }: Lookalike): string =>
  `${beneficiary_id} ${amount_minor} ${account_reference ?? ''}`

/**
 * Returns for each request, in the same order, the payee's last and usual amount and the newest counted payment that looks the
 * same. A look-alike with an unknown outcome counts however old it is, because repeating it could pay twice.
 */
export const readPast = async (db: Db, requests: readonly Lookalike[], at: Date): Promise<PayeePast[]> => {
  const since = secondsAfter(at, -longestWindowSeconds)
  // Equal items of a batch are looked up once, because each lookup would read all equal items of an earlier batch.
  const distinct = new Map(requests.map((request) => [requestKeyOf(request), request]))
  const [keys, lookups] = [[...distinct.keys()], [...distinct.values()]]
  const rows = await db.query<Row>(pastStatement, [
    ...fieldsOf(lookups, 'beneficiary_id', 'amount_minor'),
    lookups.map(({ account_reference: reference }) => reference ?? null),
    lookups.map(() => since),
  ])
  const past = new Map<string | undefined, PayeePast>()
  for (const { n, paymentId, createdAt, isUnknown, lastPaid } of rows) {
    const earlier = paymentId === null ? null : { paymentId, createdAt, isUnknown }
    past.set(keys[n - 1], { earlier, typicalAmountMinor: typicalAmount(lastPaid), lastAmountMinor: lastPaid[0] ?? null })
  }
  return requests.map((request) => past.get(requestKeyOf(request)) ?? unknownPast)
}

export type PaymentContext = Pick<Evaluation, 'policies' | 'unapproved' | 'periods'> & {
  workspace: WorkspaceState
  holder: { status: string; paymentsEnabled: boolean }
  beneficiary: BeneficiaryState
  /** The effective account reference: the beneficiary's own, or else the payment's. */
  accountReference: string | null
  namedReference: string | null
  lineage: readonly Uuid[]
  /** The grants of `lineage`, root first. */
  grants: (GrantRules & { revoked: boolean })[]
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
