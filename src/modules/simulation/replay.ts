import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { countedPaymentsSql } from '../../db/transitions.ts'
import { daysAfter, isoTime } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { inPortions } from '../../lib/lists.ts'
import { formatMinor, type Minor } from '../../lib/money.ts'
import type { Outcome } from '../../lib/policy-answers.ts'
import type { VerificationStatus } from '../../lib/verification.ts'
import { periodsAt } from '../../policy/calendar.ts'
import { evaluate } from '../../policy/evaluate.ts'
import { withUnapproved } from '../../policy/scope.ts'
import type { EarlierPayment, PayeeFacts, PaymentFacts, Periods, PolicyRules, Unapproved } from '../../policy/types.ts'
import { findBeneficiaries } from '../beneficiaries/queries.ts'
import { deciders } from '../payments/approvals/queries.ts'
import { familyDay } from '../payments/evaluation/state.ts'
import type { Replay } from './schema.ts'

const mostPayments = 20_000
/** Some milliseconds of decisions. */
const portionSize = 512
/** Of each kind. */
const mostAffected = 50

type Row = Pick<PaymentFacts, 'amountMinor' | 'paymentType' | 'rail' | 'initiatorAccountId' | 'at'> & {
  id: Uuid
  /** It was asked for and refused, so that `id` is that of the refusal. */
  refused: boolean
  lineage: Uuid[]
  payeeId: Uuid
  familyId: Uuid
  accountReference: string | null
  counts: boolean
  named: boolean
  beneficiaryId: Uuid
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
  select p.id, p.refused, p.beneficiary_id as "beneficiaryId", p.amount_minor as "amountMinor", p.payment_type as "paymentType", p.rail,
    p.initiator_account_id as "initiatorAccountId", coalesce((select g.ancestor_ids || g.id from grants g where g.id = p.grant_id), '{}') as lineage,
    p.payee_id as "payeeId", p.account_reference as "accountReference", p.created_at as at,
    (select b.verification from beneficiaries b where b.id = p.beneficiary_id) as verification,
    (select coalesce(y.paybill_id, y.id) from payees y where y.id = p.payee_id) as "familyId",
    coalesce(p.status in ${countedPaymentsSql}, false) as counts,
    exists (select from payees paid join beneficiaries named on named.payee_id in (paid.id, paid.paybill_id)
      where paid.id = p.payee_id and named.id = any($3::uuid[])) as named
  from asked p order by p.created_at, p.id limit $4`

type Affected = { row: Row; outcome: Outcome; rule: string }

const presentAffected = async (tx: Tx, affected: readonly Affected[]): Promise<Replay['affected']> => {
  const payees = await findBeneficiaries(tx, [...new Set(affected.map(({ row }) => row.beneficiaryId))])
  const nameOf = new Map(payees.map(({ id, displayName }) => [id, displayName]))
  return affected.map(({ row: { id, refused, beneficiaryId, amountMinor, at }, outcome, rule }) => ({
    payment_id: refused ? null : formatId('payment', id),
    refusal_id: refused ? formatId('payment_refusal', id) : null,
    beneficiary: { id: formatId('beneficiary', beneficiaryId), display_name: nameOf.get(beneficiaryId) ?? '' },
    amount_minor: formatMinor(amountMinor),
    created_at: isoTime(at),
    outcome,
    rule,
  }))
}

/** Who had confirmed it in the past is not known: every payee is confirmed, with the name that the rail reports today. */
const factsOf = ({ initiatorAccountId: accountId, at, verification }: Row): PayeeFacts => ({
  confirmed: true,
  createdBy: { accountId, grantId: null, label: null },
  createdAt: at,
  change: null,
  verification,
  reportedName: null,
  similarTo: null,
  typicalAmountMinor: null,
})

/** The first day of a month is a day, too. */
const monthKey = ({ month }: Periods): string => `month ${month}`

/** What a later payment may repeat: the same payee, amount and reference. */
const lookOf = ({ payeeId, amountMinor, accountReference }: Row): string =>
  `${payeeId} ${amountMinor} ${accountReference === null ? '' : JSON.stringify(accountReference)}`

/**
 * Applies a proposed policy to the payments that were asked for, made or refused, in order. One that the policy would have refused does not count for
 * the next ones; neither does one that failed or was rejected, because its charge was given back.
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
  const mayDecide = await tx.run(deciders, { workspaceId })
  const eligibleAccountIds = mayDecide.map(({ accountId }) => accountId)
  const signingAccountIds = mayDecide.flatMap(({ accountId, canSign }) => (canSign ? [accountId] : []))
  /** What was paid by day and by month, and without an approval by day and payee. */
  const counters = new Map<string, Minor>()
  const unapproved = new Map<string, readonly Unapproved[]>()
  /** The newest payment so far that counts, by how it looks. */
  const latest = new Map<string, EarlierPayment>()
  const affected: Record<'deny' | 'require_approval', Affected[]> = { deny: [], require_approval: [] }
  const considered = { allow: 0, require_approval: 0, deny: 0 }
  const replayOne = (row: Row): void => {
    const { amountMinor, paymentType, rail, initiatorAccountId, lineage: grantLineage, at } = row
    const periods = periodsAt(at, window.timeZone)
    const family = familyDay(row.familyId, periods.day)
    const decision = evaluate({
      payment: {
        ...{ amountMinor, paymentType, rail, initiatorAccountId, grantLineage, at, workspaceId },
        beneficiaryId: row.id,
        payeeBeneficiaryIds: row.named ? policy.beneficiaryIds : [],
        paybillBeneficiaryIds: [],
        payeeIsFixed: true,
        payee: factsOf(row),
      },
      policies: [
        { ...policy, usage: { dayMinor: counters.get(periods.day) ?? 0n, monthMinor: counters.get(monthKey(periods)) ?? 0n } },
      ],
      grants: [],
      mandate: null,
      approvers: { eligibleAccountIds, signingAccountIds },
      periods,
      capabilities: { payments: true },
      earlier: latest.get(lookOf(row)) ?? null,
      // Whether a second one was meant is not known either.
      duplicateIsIntended: false,
      onDuplicate: null,
      unapproved: unapproved.get(family) ?? [],
      unitMinor: 1n,
      duplicateWindowSeconds: window.duplicateWindowSeconds,
    })
    const { outcome } = decision
    if (row.counts && outcome !== 'deny') latest.set(lookOf(row), { paymentId: row.id, createdAt: at, isUnknown: false })
    // Where the policy would have asked, somebody approved.
    if (row.counts && outcome === 'allow')
      unapproved.set(
        family,
        withUnapproved(unapproved.get(family) ?? [], { paymentType, rail, grantLineage, approvals: 0, amountMinor }),
      )
    // A payment that the policy does not apply to would show nothing about it.
    if (decision.policyVersions.length === 0) return
    // What something else refused says nothing about a policy that would have let it pass.
    if (row.refused && outcome === 'allow') return
    considered[outcome] += 1
    if (row.counts && outcome !== 'deny')
      for (const key of [periods.day, monthKey(periods)]) counters.set(key, (counters.get(key) ?? 0n) + amountMinor)
    if (outcome !== 'allow' && affected[outcome].length < mostAffected)
      affected[outcome].push({ row, outcome, rule: decision.trace.find((entry) => entry.decisive)?.rule ?? '' })
  }
  await inPortions(rows.slice(0, mostPayments), portionSize, replayOne)
  const { allow: allowed, require_approval: held, deny: refused } = considered
  return {
    days: window.days,
    payments_considered: allowed + held + refused,
    allowed,
    held,
    refused,
    affected: await presentAffected(tx, [...affected.deny, ...affected.require_approval]),
    truncated: rows.length > mostPayments,
  }
}
