import { maySeeBalance } from '../../../auth/principal.ts'
import type { Database, Db } from '../../../db/client.ts'
import { prepareText, type RowOf } from '../../../db/prepare.ts'
import { statement } from '../../../db/statement.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import { getBalance } from '../../../ledger/ledger.ts'
import { type Fact, factsOfWarnings, inOrder } from '../../../lib/approval-facts.ts'
import { type Clock, isoTimeOrNull } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor, formatMinorOrNull, type Minor } from '../../../lib/money.ts'
import type { VerificationStatus } from '../../../lib/verification.ts'
import { lostFact, type NamedLine, nameFacts, withNames } from '../../../policy/facts.ts'
import { typicalAmount, unusualAmount } from '../../../policy/warnings.ts'
import { lastPaidSql, paidSamePayeeSql } from '../../beneficiaries/payee-queries.ts'
import { presentVerification } from '../../beneficiaries/present.ts'
import type { Parts } from '../../parts.ts'
import { presentWarning } from '../../policies/present.ts'
import { itemsOf } from '../batch/queries.ts'
import { paymentsThatMayBePaidTwice } from '../lost-writes.ts'
import { decisionOf } from '../present.ts'
import { type ApprovalRecord, currentDecisions, deciders, isCountedDecision, storedFacts } from './queries.ts'
import type { Approval } from './schema.ts'

type History = { paymentsCount: number; lastPaidAt: Date | null; lastPaid: Minor[] }
/** Paid payments to the same payee under any name; at a paybill, to the same account. `without`: payments to exclude. */
const paymentsToPayee = prepareText<History>()(
  'approvals.paid_to_payee',
  { payee_id: 'uuid', rail: 'text', account_reference: 'text', without: 'uuid[]' },
  `select paid.*,
     ${lastPaidSql({ payee: 'own', rail: 'key.rail', reference: 'key.account_reference', among: 'q.id <> all(key.without)' })} as "lastPaid"
   from payees own cross join lateral (
     select count(*)::int as "paymentsCount", max(earlier.completed_at) as "lastPaidAt" from payments earlier
     where ${paidSamePayeeSql('earlier', 'key')} and earlier.status in ${paidPaymentsSql} and earlier.id <> all(key.without)) as paid
   where own.id = key.payee_id and paid."paymentsCount" > 0`,
  'page',
  { maxSets: 64 },
)

/** Histories of payees by approval, for single payments. Each payee is read once, because it may have many payments. */
const readHistories = async (db: Db, records: readonly ApprovalRecord[]): Promise<ReadonlyMap<Uuid, History | undefined>> => {
  const byPayee = Map.groupBy(
    records.filter(({ approval }) => approval.batchId === null),
    ({ payment: { payeeId, rail, accountReference } }) => JSON.stringify([payeeId, rail, accountReference]),
  )
  const groups = [...byPayee.values()].map(async ([first, ...others]) => {
    if (!first) return []
    const alike = [first, ...others]
    const { payeeId, rail, accountReference } = first.payment
    const without = alike.map(({ payment }) => payment.id)
    const [history] = await db.run(paymentsToPayee, { payee_id: payeeId, rail, account_reference: accountReference, without })
    return alike.map(({ approval }) => [approval.id, history] as const)
  })
  return new Map((await Promise.all(groups)).flat())
}

type ApprovalContext = NonNullable<Approval['context']>

type NameRow = { batchId: Uuid; verification: VerificationStatus; count: number; named: NamedLine[] }

/** Current name checks by batch. A name that is reported after the text was created voids no decision, but approvers see it. */
const readNames = statement('approvals.names_of_batches', 'page')`
  select batch_id as "batchId", verification, count(*)::int as count,
     case when verification = 'no_match' then (array_agg(json_build_object('beneficiaryId', id, 'payeeName', display_name,
       'amountMinor', amount::text, 'verification', verification, 'reportedName', reported_name) order by amount desc))[1:10]
       else '{}' end as named
   from (select p.batch_id, b.id, b.display_name, b.verification, b.reported_name, sum(p.amount_minor) as amount
     from payments p join beneficiaries b on b.id = p.beneficiary_id where p.batch_id = any($1::uuid[]) group by 1, 2) as own
   group by 1, 2`

const noLine = { beneficiaryId: '', payeeName: '', amountMinor: 0n, reportedName: null }

/** Merges facts of the same type: `unverified` and `unavailable` names have one type. */
const merged = (facts: readonly Fact[]): Fact[] =>
  [...Map.groupBy(facts, ({ type }) => type).values()].flatMap((alike) =>
    alike.slice(0, 1).map((fact) => ({ ...fact, count: alike.reduce((sum, { count }) => sum + count, 0) })),
  )

const namesOfBatches = async (db: Db, records: readonly ApprovalRecord[]): Promise<ReadonlyMap<Uuid, Fact[]>> => {
  const ids = records.flatMap(({ approval }) => (approval.status === 'pending' && approval.batchId) || [])
  const rows = ids.length === 0 ? [] : await db.query<NameRow>(readNames, [ids])
  const factOf = ({ verification, count, named }: NameRow): Fact[] => {
    const lines = named.map((line) => ({ ...line, amountMinor: BigInt(line.amountMinor) }))
    const [fact] = nameFacts(lines.length > 0 ? lines : [{ ...noLine, verification }])
    return fact ? [{ ...fact, count }] : []
  }
  return new Map([...Map.groupBy(rows, ({ batchId }) => batchId)].map(([id, own]) => [id, merged(own.flatMap(factOf))]))
}

type ContextDeps = Pick<Parts, 'clock' | 'db' | 'rails'>

/**
 * Accounts that may still decide, by the rules of `decide`. Excluded: accounts whose decision counts, the initiator under
 * separation of duties and, if two people are required, an account too new for a policy that applied to the request.
 */
const eligibleIds = (record: ApprovalRecord, mayDecide: readonly RowOf<typeof deciders>[], now: Date): Uuid[] => {
  const { approval, payment } = record
  const excluded = new Set([
    ...currentDecisions(record)
      .filter((decision) => isCountedDecision(record, decision))
      .map(({ accountId }) => accountId),
    ...(approval.separationOfDuties ? [payment.initiatorAccountId] : []),
  ])
  return mayDecide
    .filter(
      ({ notUnder, countsFrom }) =>
        !record.requiresSecondPerson || countsFrom <= now || !approval.policyVersions.some(({ id }) => notUnder.includes(id)),
    )
    .filter(({ canSign }) => approval.approvalProof === 'any' || canSign)
    .map(({ accountId }) => accountId)
    .filter((id) => !excluded.has(id) && (record.onlyApprovers?.includes(id) ?? true))
}

export const readEligibleApprovers = async (db: Database, clock: Clock, record: ApprovalRecord): Promise<Uuid[]> =>
  eligibleIds(record, await db.run(deciders, { workspaceId: record.payment.workspaceId }), clock.now())

/** By approval, the number of payments that might be paid twice after a loss of writes. Sending applies the same rule. */
const countLost = async ({ db, rails, clock }: ContextDeps, records: readonly ApprovalRecord[]): Promise<Map<Uuid, number>> => {
  const older = records.filter(({ approval, predatesLoss }) => predatesLoss && approval.status === 'pending')
  if (older.length === 0) return new Map()
  const batchIds = older.flatMap(({ approval }) => approval.batchId ?? [])
  const items = await db.run(itemsOf, { batchIds })
  const idsOf = ({ approval, payment }: ApprovalRecord) =>
    approval.batchId === null ? [payment.id] : items.filter(({ batchId }) => batchId === approval.batchId).map(({ id }) => id)
  const paidTwice = await paymentsThatMayBePaidTwice(db, rails, older.flatMap(idsOf), clock.now())
  return new Map(older.map((record) => [record.approval.id, idsOf(record).filter((id) => paidTwice.has(id)).length]))
}

/** Amount not yet deducted from the available balance: a payment that waits for approval is held, a scheduled one is not. */
const unheldMinor = ({ batch, payment }: ApprovalRecord): Minor =>
  payment.status !== 'scheduled'
    ? 0n
    : batch
      ? batch.totalMinor + (batch.feesMinor ?? 0n)
      : payment.amountMinor + (payment.feeMinor ?? 0n)

type FactUpdates = { names?: readonly Fact[] | undefined; mayHaveBeenSentCount?: number; typicalMinor?: Minor | null }

/** The facts of the text, updated with name checks, losses of writes and usual amounts that became known later. */
const currentFacts = (record: ApprovalRecord, { names, mayHaveBeenSentCount = 0, typicalMinor = null }: FactUpdates): Fact[] => {
  const stored = storedFacts(record)
  const { approval, payment } = record
  if (approval.status !== 'pending') return stored
  const known = names ? withNames(stored, names) : stored
  const unusual = approval.batchId === null ? unusualAmount(payment.amountMinor, typicalMinor) : []
  const about = { beneficiary: approval.beneficiaryName, amount_minor: formatMinor(payment.amountMinor) }
  const unusualFacts = factsOfWarnings(unusual.map(presentWarning), about)
  return inOrder([
    ...(mayHaveBeenSentCount > 0 ? [lostFact(mayHaveBeenSentCount)] : []),
    ...known,
    ...(known.some(({ type }) => type === 'unusual_amount') ? [] : unusualFacts),
  ])
}

/** The facts as shown to the holder of an approval link. */
export const readFacts = async (deps: ContextDeps, record: ApprovalRecord): Promise<Fact[]> => {
  const [names, lost] = await Promise.all([namesOfBatches(deps.db, [record]), countLost(deps, [record])])
  const { id, batchId } = record.approval
  return currentFacts(record, { names: names.get(batchId ?? id), mayHaveBeenSentCount: lost.get(id) ?? 0 })
}

/** Warnings that an approver should read first. A batch's text already counts its unusual payments. */
const warningsOf = (
  { approval, payment, firstPayment }: ApprovalRecord,
  typicalMinor: Minor | null,
  mayHaveBeenSentCount: number,
): ApprovalContext['warnings'] => {
  const lost = mayHaveBeenSentCount === 0 ? [] : [{ code: 'may_have_been_sent' as const, payments_count: mayHaveBeenSentCount }]
  if (approval.batchId !== null) return lost
  const decided = decisionOf(payment).warnings
  const isAlreadyWarned = decided.some(({ code }) => code === 'unusual_amount')
  return [
    ...lost,
    ...decided,
    ...(firstPayment ? [{ code: 'first_payment' as const }] : []),
    ...(isAlreadyWarned ? [] : unusualAmount(payment.amountMinor, typicalMinor).map(presentWarning)),
  ]
}

export const readContexts = async (
  deps: ContextDeps,
  reader: Parameters<typeof maySeeBalance>[0] & { workspace: { id: Uuid } },
  records: readonly ApprovalRecord[],
): Promise<ReadonlyMap<Uuid, { context: ApprovalContext; facts: Fact[] }>> => {
  if (records.length === 0) return new Map()
  const { db } = deps
  const { workspace } = reader
  const [histories, mayDecide, balance, lost, names] = await Promise.all([
    readHistories(db, records),
    db.run(deciders, { workspaceId: workspace.id }),
    maySeeBalance(reader) ? getBalance(db, workspace.balanceAccountId) : null,
    countLost(deps, records),
    namesOfBatches(db, records),
  ])
  const now = deps.clock.now()
  const contextOf = (record: ApprovalRecord): { context: ApprovalContext; facts: Fact[] } => {
    const { id, batchId, status } = record.approval
    const history = histories.get(id)
    const mayHaveBeenSentCount = lost.get(id) ?? 0
    const typicalMinor = history ? typicalAmount(history.lastPaid) : null
    const context: ApprovalContext = {
      payee:
        batchId === null
          ? {
              payments_count: history?.paymentsCount ?? 0,
              last_paid_at: isoTimeOrNull(history?.lastPaidAt ?? null),
              typical_amount_minor: formatMinorOrNull(typicalMinor),
              verification: presentVerification(record.beneficiary),
            }
          : null,
      warnings: warningsOf(record, typicalMinor, mayHaveBeenSentCount),
      available_after_minor: balance && formatMinor(balance.availableMinor - unheldMinor(record)),
      eligible_approvers:
        status === 'pending' ? eligibleIds(record, mayDecide, now).map((account) => formatId('account', account)) : [],
    }
    return { context, facts: currentFacts(record, { names: names.get(batchId ?? id), mayHaveBeenSentCount, typicalMinor }) }
  }
  return new Map(records.map((record) => [record.approval.id, contextOf(record)]))
}
