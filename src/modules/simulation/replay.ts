import { canSign } from '../../auth/authority-sql.ts'
import { decidingRoles } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { countedPaymentsSql } from '../../db/transitions.ts'
import { daysAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import { inPortions } from '../../lib/lists.ts'
import type { Minor } from '../../lib/money.ts'
import type { Outcome } from '../../lib/policy-answers.ts'
import type { VerificationStatus } from '../../lib/verification.ts'
import { periodsAt } from '../../policy/calendar.ts'
import { evaluate } from '../../policy/evaluate.ts'
import { withUnapproved } from '../../policy/scope.ts'
import type { EarlierPayment, PayeeFacts, Periods, PolicyRules, Unapproved } from '../../policy/types.ts'
import { findBeneficiaries } from '../beneficiaries/queries.ts'

/** `refused`: it was asked for and refused, so that `id` is that of the refusal. */
export type ReplayedPayment = {
  id: Uuid
  refused: boolean
  beneficiaryId: Uuid
  payee: string
  amountMinor: Minor
  createdAt: Date
  outcome: Outcome
  rule: string
}
export type Replay = {
  days: number
  /**
   * Payments that the policy applies to; each is allowed, held for approval or refused. What was refused at the time counts where this
   * policy too would have stopped it.
   */
  considered: number
  allowed: number
  held: number
  refused: number
  /** The first ones that would have been refused, then the first that would have been held. */
  affected: ReplayedPayment[]
  /** There were more payments than the limit: the newest were left out. */
  truncated: boolean
}

const mostPayments = 20_000
/** Some milliseconds of decisions. */
const portionSize = 512
/** Of each kind. */
const mostAffected = 50

type Row = {
  id: Uuid
  amount_minor: Minor
  payment_type: string
  rail: string
  initiator_account_id: Uuid
  lineage: Uuid[]
  payee_id: Uuid
  family_id: Uuid
  account_reference: string | null
  created_at: Date
  counts: boolean
  named: boolean
  refused: boolean
  beneficiary_id: Uuid
  verification: VerificationStatus
}

const pastPayments = `
  with asked as (
    select id, amount_minor, payment_type, rail, initiator_account_id, grant_id, payee_id, account_reference, created_at, status,
      false as refused, beneficiary_id
    from payments where workspace_id = $1 and created_at >= $2
    union all
    select r.id, r.amount_minor, b.payment_rail, b.payment_rail, r.initiator_account_id, r.grant_id, b.payee_id, r.account_reference,
      r.created_at, null, true, b.id
    from payment_refusals r join beneficiaries b on b.id = r.beneficiary_id where r.workspace_id = $1 and r.created_at >= $2)
  select p.id, p.refused, p.beneficiary_id, p.amount_minor, p.payment_type, p.rail, p.initiator_account_id,
    coalesce((select g.ancestor_ids || g.id from grants g where g.id = p.grant_id), '{}') as lineage, p.payee_id, p.account_reference, p.created_at,
    (select b.verification from beneficiaries b where b.id = p.beneficiary_id) as verification,
    (select coalesce(y.paybill_id, y.id) from payees y where y.id = p.payee_id) as family_id,
    coalesce(p.status in ${countedPaymentsSql}, false) as counts,
    exists (select from payees paid join beneficiaries named on named.payee_id in (paid.id, paid.paybill_id)
      where paid.id = p.payee_id and named.id = any($3::uuid[])) as named
  from asked p order by p.created_at, p.id limit $4`

type Affected = { row: Row; outcome: Outcome; rule: string }

const withNames = async (tx: Tx, affected: readonly Affected[]): Promise<ReplayedPayment[]> => {
  const payees = await findBeneficiaries(tx, [...new Set(affected.map(({ row }) => row.beneficiary_id))])
  const nameOf = new Map(payees.map(({ id, displayName }) => [id, displayName]))
  return affected.map(({ row, outcome, rule }) => ({
    id: row.id,
    refused: row.refused,
    beneficiaryId: row.beneficiary_id,
    payee: nameOf.get(row.beneficiary_id) ?? '',
    amountMinor: row.amount_minor,
    createdAt: row.created_at,
    outcome,
    rule,
  }))
}

const approvers = `
  select m.account_id, ${canSign('m.account_id')} as can_sign from members m join accounts a on a.id = m.account_id
  where m.workspace_id = $1 and m.status = 'active' and m.role = any($2::text[]) and a.status = 'active'`

/** By day and payee: what was paid without an approval. */
type UnapprovedByPayee = Map<string, readonly Unapproved[]>
const noteUnapproved = (unapproved: UnapprovedByPayee, { day }: Periods, row: Row): void => {
  const key = `${day} ${row.family_id}`
  const { payment_type: paymentType, rail, amount_minor: amountMinor, lineage: grantLineage } = row
  const rows = unapproved.get(key) ?? []
  unapproved.set(key, withUnapproved(rows, { paymentType, rail, grantLineage, approvals: 0, amountMinor }))
}

/** Who had confirmed a payee in the past is not known: a replay takes every payee for confirmed, with the name that the rail reports today. */
const factsOf = ({ initiator_account_id: accountId, created_at: at, verification }: Row): PayeeFacts => ({
  confirmed: true,
  createdBy: { accountId, grantId: null, label: null },
  createdAt: at,
  change: null,
  verification,
  reportedName: null,
  similarTo: null,
  typicalAmountMinor: null,
})

type Counters = Map<string, Minor>
const read = (counters: Counters, periods: Periods) => ({
  dayMinor: counters.get(`d${periods.day}`) ?? 0n,
  monthMinor: counters.get(`m${periods.month}`) ?? 0n,
})
const add = (counters: Counters, periods: Periods, amount: Minor): void => {
  for (const key of [`d${periods.day}`, `m${periods.month}`]) counters.set(key, (counters.get(key) ?? 0n) + amount)
}

/** The newest payment so far that counts, of each payee, amount and reference: what a later payment may repeat. */
type Latest = Map<string, EarlierPayment>
const lookOf = ({ payee_id, amount_minor, account_reference }: Row): string =>
  `${payee_id} ${amount_minor} ${account_reference === null ? '' : JSON.stringify(account_reference)}`

/**
 * Applies a proposed policy to the payments that were asked for, made or refused, in order, with the engine that decides payments. A payment that the
 * policy would have refused does not count for the next ones; neither does one that really failed or was rejected, because its charge was
 * given back.
 */
export const replayPolicy = async (
  tx: Tx,
  principal: Principal,
  policy: PolicyRules,
  window: { days: number; at: Date; timeZone: string; duplicateWindowSeconds: number },
): Promise<Replay> => {
  const workspaceId = principal.workspace.id
  const rows = await tx.query<Row>(pastPayments, [
    workspaceId,
    daysAfter(window.at, -window.days),
    policy.beneficiaryIds,
    mostPayments + 1,
  ])
  const mayDecide = await tx.query<{ account_id: Uuid; can_sign: boolean }>(approvers, [workspaceId, decidingRoles])
  const eligibleAccountIds = mayDecide.map((row) => row.account_id)
  const signingAccountIds = mayDecide.filter((row) => row.can_sign).map((row) => row.account_id)
  const counters: Counters = new Map()
  const latest: Latest = new Map()
  const unapproved: UnapprovedByPayee = new Map()
  const refused: Affected[] = []
  const held: Affected[] = []
  const replay: Replay = {
    days: window.days,
    considered: 0,
    allowed: 0,
    held: 0,
    refused: 0,
    affected: [],
    truncated: rows.length > mostPayments,
  }
  const replayOne = (row: Row): void => {
    const periods = periodsAt(row.created_at, window.timeZone)
    const decision = evaluate({
      payment: {
        amountMinor: row.amount_minor,
        paymentType: row.payment_type,
        rail: row.rail,
        beneficiaryId: row.id,
        payeeBeneficiaryIds: row.named ? policy.beneficiaryIds : [],
        paybillBeneficiaryIds: [],
        payeeIsFixed: true,
        payee: factsOf(row),
        workspaceId,
        initiatorAccountId: row.initiator_account_id,
        grantLineage: row.lineage,
        at: row.created_at,
      },
      policies: [{ ...policy, usage: read(counters, periods) }],
      grants: [],
      mandate: null,
      approvers: { eligibleAccountIds, signingAccountIds },
      periods,
      capabilities: { payments: true },
      earlier: latest.get(lookOf(row)) ?? null,
      // Whether a second one was meant is not known either.
      duplicateIsIntended: false,
      onDuplicate: null,
      unapproved: unapproved.get(`${periods.day} ${row.family_id}`) ?? [],
      unitMinor: 1n,
      duplicateWindowSeconds: window.duplicateWindowSeconds,
    })
    if (row.counts && decision.outcome !== 'deny')
      latest.set(lookOf(row), { paymentId: row.id, createdAt: row.created_at, isUnknown: false })
    // Where the policy would have asked, somebody approved.
    if (row.counts && decision.outcome === 'allow') noteUnapproved(unapproved, periods, row)
    // A payment that the policy does not apply to would show nothing about it.
    if (decision.policyVersions.length === 0) return
    // What something else refused says nothing about a policy that would have let it pass.
    if (row.refused && decision.outcome === 'allow') return
    replay.considered += 1
    if (decision.outcome === 'allow') replay.allowed += 1
    if (decision.outcome === 'require_approval') replay.held += 1
    if (decision.outcome === 'deny') replay.refused += 1
    if (row.counts && decision.outcome !== 'deny') add(counters, periods, row.amount_minor)
    const affected = decision.outcome === 'deny' ? refused : held
    if (decision.outcome !== 'allow' && affected.length < mostAffected)
      affected.push({ row, outcome: decision.outcome, rule: decision.trace.find((entry) => entry.decisive)?.rule ?? '' })
  }
  await inPortions(rows.slice(0, mostPayments), portionSize, replayOne)
  replay.affected = await withNames(tx, [...refused, ...held])
  return replay
}
