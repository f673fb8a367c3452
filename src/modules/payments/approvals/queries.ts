import { and, asc, desc, eq, type SQLWrapper, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { canSign, requiresSecondPerson, roleSince, rulesExcluding } from '../../../auth/authority-sql.ts'
import { decidingRoles } from '../../../auth/permissions.ts'
import { holdsLock } from '../../../db/account-lock.ts'
import type { Db, Tx } from '../../../db/client.ts'
import { columnsOf } from '../../../db/columns.ts'
import { amongIds, createdBetween, newestFirst, ownedBy } from '../../../db/list-queries.ts'
import { type Placeholders, prepare, type RowOf } from '../../../db/prepare.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { approvalDecisions, approvals } from '../../../db/tables/approvals.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { namesSql } from '../../../db/tables/columns.ts'
import { grants } from '../../../db/tables/grants.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { payments } from '../../../db/tables/payments.ts'
import { balanceAccountSql, members, workspaces } from '../../../db/tables/workspaces.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import type { NewEvent } from '../../../events/append.ts'
import type { EventType } from '../../../events/types.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { presenter } from '../../../http/presenter.ts'
import { type Fact, factTypes, inOrder } from '../../../lib/approval-facts.ts'
import { isoTimeOrNull } from '../../../lib/clock.ts'
import { balanceMoved } from '../../../lib/errors.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor } from '../../../lib/money.ts'
import { levelOf, nameFacts } from '../../../policy/facts.ts'
import { namedApproversSql, policyApplies } from '../../../policy/scope-sql.ts'
import { paidSamePayeeSql } from '../../beneficiaries/payee-queries.ts'
import { withoutTrace } from '../../policies/present.ts'
import { presentCreator } from '../../present-creator.ts'
import type { BatchRow } from '../batch/queries.ts'
import { predatesLatestLossSql } from '../lost-writes.ts'
import { decisionOf } from '../present.ts'
import type { PaymentRecord } from '../queries.ts'
import { Approval, BatchSummary, PaymentSummary } from './schema.ts'

export type ApprovalRow = typeof approvals.$inferSelect
/** `voidedAt`: when the decision stopped being valid. */
type DecisionRow = typeof approvalDecisions.$inferSelect & { voidedAt: Date | null }

/** Whether a payment (of table `payments`) is the first to its payee. */
export const firstPaymentSql = `not exists (
  select from payments earlier
  where ${paidSamePayeeSql('earlier', 'payments')} and earlier.status in ${paidPaymentsSql} and earlier.id <> payments.id)`

type DecisionJson = Omit<DecisionRow, 'decidedAt' | 'voidedAt'> & { decidedAt: string; voidedAt: string | null }

const decisions = sql`(
  select coalesce(json_agg(given order by given."decidedAt", given.id), '[]') from (
    select ${sql.raw(columnsOf(approvalDecisions, 'd'))}, v.voided_at as "voidedAt"
    from approval_decisions d left join approval_voids v on v.decision_id = d.id where d.approval_id = ${approvals.id}) as given)`.mapWith(
  (rows: DecisionJson[]): DecisionRow[] =>
    rows.map(({ decidedAt, voidedAt, ...row }) => ({
      ...row,
      decidedAt: new Date(decidedAt),
      voidedAt: voidedAt === null ? null : new Date(voidedAt),
    })),
)

/**
 * Policy `s` decides about the approval: one that applied to the request or, while it is pending, one that was changed since and
 * applies now. A minute covers clocks that differ. Unchanged policies are not tested against up to 1,000 items of a batch.
 */
const decidesNow = `s.workspace_id = approvals.workspace_id and case
  when approvals.status = 'pending' and s.updated_at > approvals.created_at - interval '1 minute'
  then exists (select from payments q where q.id in (
      select approvals.payment_id union all select i.id from payments i where i.batch_id = approvals.batch_id) and ${policyApplies('s', 'q')})
  else s.id = any(array(select (v ->> 'id')::uuid from jsonb_array_elements(approvals.policy_versions) as v)) end`

/** `workspaceId`: a list passes its own, which is then looked up only once. */
const selectionOf = (workspaceId: SQLWrapper) => ({
  approval: approvals,
  payment: payments,
  batch: paymentBatches,
  beneficiary: {
    id: beneficiaries.id,
    displayName: approvals.beneficiaryName,
    paymentRail: beneficiaries.paymentRail,
    destinationMask: beneficiaries.destinationMask,
    nameCheckedAt: beneficiaries.nameCheckedAt,
    nameSource: beneficiaries.nameSource,
    reportedName: beneficiaries.reportedName,
    verification: beneficiaries.verification,
    confirmedAt: beneficiaries.confirmedAt,
  },
  decisions,
  grantLabel: grants.label,
  /** The account that holds the workspace's balance now. The payment may still be paid from the shared balance. */
  balanceAccountId: sql<Uuid>`(select ${sql.raw(balanceAccountSql('w'))} from workspaces w where w.id = ${workspaceId})`,
  /** The requesting grant and its ancestors, root first. */
  lineage: sql<Uuid[]>`array_remove(${grants.ancestorIds} || ${grants.id}, null)`,
  firstPayment: sql<boolean>`${sql.raw(firstPaymentSql)}`,
  /** Whether two people must decide. If so, a person who became an approver in the last 24 hours may not count yet. */
  requiresSecondPerson: sql<boolean>`${sql.raw(requiresSecondPerson('approvals', 'required_approvals'))}`,
  /** The only accounts that the payment's policies allow to decide; null: every approver. */
  onlyApprovers: sql<Uuid[] | null>`${sql.raw(namedApproversSql(decidesNow))}`,
  /** Whether the payment was requested before a loss of writes, and so may already have been sent. */
  predatesLoss: sql<boolean>`${sql.raw(predatesLatestLossSql('payments'))}`,
})

const select = (orm: QueryBuilder, workspaceId: SQLWrapper = payments.workspaceId) =>
  orm
    .select(selectionOf(workspaceId))
    .from(approvals)
    .innerJoin(payments, eq(payments.id, approvals.paymentId))
    .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
    .leftJoin(grants, eq(grants.id, payments.grantId))
    .leftJoin(paymentBatches, eq(paymentBatches.id, approvals.batchId))

const byIdParameters = { id: 'uuid', workspaceId: 'uuid?' } as const
const selectOne = (orm: QueryBuilder, param: Placeholders<typeof byIdParameters>) =>
  select(orm).where(and(eq(approvals.id, param.id), param.workspaceId && eq(approvals.workspaceId, param.workspaceId)))
const byId = prepare('approvals.by_id', byIdParameters, 'coalesced', selectOne)
/** Decisions are as of the query's start: current only if the paying account was locked before (`lockApprovalRow`). */
const lockById = prepare('approvals.lock', byIdParameters, (orm, param) => selectOne(orm, param).for('update', { of: approvals }))

/** An approval with its decisions in order, and with its payment or, for a batch, the batch and its first payment. */
export type ApprovalRecord = Omit<RowOf<typeof byId>, 'payment' | 'batch'> & { payment: PaymentRecord; batch: BatchRow | null }

/** Replaces a batch whose columns are all null with null. */
const recordOf = (row: ApprovalRecord): ApprovalRecord => (row.approval.batchId === null ? { ...row, batch: null } : row)

/** The latest decision of each account, if it was not voided. */
export const currentDecisions = ({ decisions }: Pick<ApprovalRecord, 'decisions'>): DecisionRow[] => {
  const latest = new Map(decisions.map((decision) => [decision.accountId, decision]))
  return [...latest.values()].filter(({ voidedAt }) => voidedAt === null)
}

/** Whether a decision counts. A rejection always does; an approval must be signed if signatures are required. */
export const isCountedDecision = ({ approval }: Pick<ApprovalRecord, 'approval'>, { decision, via }: DecisionRow): boolean =>
  decision === 'reject' || approval.approvalProof === 'any' || via !== 'credential'

const readOne = async (db: Db, query: typeof byId, id: Uuid, workspaceId?: Uuid): Promise<ApprovalRecord | undefined> =>
  (await db.run(query, { id, workspaceId })).map(recordOf)[0]

/** `workspaceId`: omitted for the public message and for signatures. */
export const findApproval = (db: Db, id: Uuid, workspaceId?: Uuid): Promise<ApprovalRecord | undefined> =>
  readOne(db, byId, id, workspaceId)

const list = prepare(
  'approvals.list',
  {
    workspaceId: 'uuid',
    status: 'text?',
    createdAfter: 'timestamptz?',
    createdBefore: 'timestamptz?',
    before: 'uuid?',
    take: 'rows',
  },
  'page',
  (orm, param) => {
    const owner = { column: approvals.workspaceId, id: param.workspaceId }
    const ids = newestFirst(
      orm.select({ id: approvals.id }).from(approvals),
      { owner: approvals.workspaceId, id: approvals.id },
      param,
      ownedBy(approvals.workspaceId, param.workspaceId),
      param.status && eq(approvals.status, param.status),
      createdBetween({ id: approvals.id, at: approvals.createdAt, owner }, param.createdAfter, param.createdBefore),
    )
    return select(orm, param.workspaceId).where(amongIds(approvals.id, ids)).orderBy(desc(approvals.id))
  },
)

export const listApprovals = async (
  db: Db,
  workspaceId: Uuid,
  page: PageRequest,
  filter: { status?: ApprovalRow['status'] | undefined; createdAfter?: Date; createdBefore?: Date },
): Promise<ApprovalRecord[]> => (await db.run(list, { workspaceId, ...filter, ...page })).map(recordOf)

/**
 * Accounts that may decide a workspace's approvals, oldest members first. `notUnder`: the policies that do not count the account
 * until `countsFrom`, because they require two people.
 */
export const deciders = prepare('approvals.deciders', { workspaceId: 'uuid' }, 'coalesced', (orm, param) =>
  orm
    .select({
      accountId: members.accountId,
      canSign: sql<boolean>`${sql.raw(canSign('accounts.id'))}`,
      notUnder: sql<
        Uuid[]
      >`array${sql.raw(rulesExcluding('members', 'workspaces', 'spending_policies', "'-infinity'::timestamptz"))}`,
      countsFrom: sql<Date>`${sql.raw(roleSince('members'))} + interval '24 hours'`.mapWith(members.createdAt),
    })
    .from(members)
    .innerJoin(accounts, eq(accounts.id, members.accountId))
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .where(
      and(
        eq(members.workspaceId, param.workspaceId),
        eq(members.status, 'active'),
        sql`${members.role} in ${sql.raw(namesSql(decidingRoles))}`,
        eq(accounts.status, 'active'),
      ),
    )
    .orderBy(asc(members.id)),
)

const lockPayments = prepare('approvals.lock_payments', byIdParameters, (orm, param) =>
  orm
    .select()
    .from(payments)
    .where(
      sql`${payments.id} = any(array(
          select asked.id from ${approvals} a
          cross join lateral (select a.payment_id as id union select p.id from ${payments} p where p.batch_id = a.batch_id) as asked
          where a.id = ${param.id} ${param.workspaceId ? sql`and a.workspace_id = ${param.workspaceId}` : sql``}))`,
    )
    .orderBy(asc(payments.batchIndex), asc(payments.id))
    .for('update'),
)

/** A locked approval with all of its payments, in the order of the batch. */
export type LockedApproval = ApprovalRecord & { payments: PaymentRecord[] }

/** Locks the approval alone, for a caller that has locked its payment. */
export const lockApprovalRow = async (tx: Tx, id: Uuid, workspaceId?: Uuid): Promise<ApprovalRecord | undefined> => {
  const record = await readOne(tx, lockById, id, workspaceId)
  // A separation has moved a scheduled payment after the caller read which account to lock.
  if (record && !holdsLock(tx, record.payment.accountId)) throw balanceMoved()
  return record
}

/** Lock order: the paying account, which the caller has locked, then the payments, then the approval. */
export const lockApproval = async (tx: Tx, id: Uuid, workspaceId?: Uuid): Promise<LockedApproval | undefined> => {
  const [locked, record] = await Promise.all([tx.run(lockPayments, { id, workspaceId }), lockApprovalRow(tx, id, workspaceId)])
  return record && { ...record, payments: locked }
}

const shownPayment = presenter(PaymentSummary)
const shownPayee = presenter(PaymentSummary.shape.beneficiary)

const presentSummary = ({ payment, beneficiary, grantLabel, firstPayment }: ApprovalRecord): PaymentSummary =>
  shownPayment(payment, {
    fee_minor: formatMinor(payment.feeMinor ?? 0n),
    beneficiary: shownPayee(beneficiary, { first_payment: firstPayment }),
    initiated_by: presentCreator({ accountId: payment.initiatorAccountId, grantId: payment.grantId, label: grantLabel }),
    decision: decisionOf(payment),
  })

const shownBatch = presenter(BatchSummary)

/** When the decision stopped counting: it was voided, or its account decided again. */
const voidedAtOf = (decision: DecisionRow, { decisions }: Pick<ApprovalRecord, 'decisions'>): Date | null => {
  const later = decisions.slice(decisions.indexOf(decision) + 1).find(({ accountId }) => accountId === decision.accountId)
  return decision.voidedAt ?? later?.decidedAt ?? null
}

const shownDecision = presenter(Approval.shape.decisions.element)

const presentApprovalDecision = (decision: DecisionRow, record: ApprovalRecord): Approval['decisions'][number] =>
  shownDecision(decision, {
    // A mandate is a signature given in advance.
    via: decision.via === 'mandate' ? 'signature' : decision.via,
    voided_at: isoTimeOrNull(voidedAtOf(decision, record)),
  })

/** Derives the facts of a text from an earlier release, which stored none, from its warnings. */
const factsFromText = ({ approval, payment, beneficiary, batch, firstPayment }: ApprovalRecord): Fact[] => {
  if (batch) {
    const warned = [...approval.approveMessage.matchAll(/^Warning, (\d+) times: ([a-z ]+)$/gm)].flatMap(([, count, code]) => {
      const type = factTypes.find((one) => one.replaceAll('_', ' ') === code)
      return type ? [{ type, count: Number(count), level: levelOf(type, Number(count), batch.itemsCount), items: [] }] : []
    })
    const differing = Number(/^Payees whose name differs from the rail's: (\d+)$/m.exec(approval.approveMessage)?.[1] ?? 0)
    const others = warned.filter(({ type }) => type !== 'name_mismatch')
    return inOrder(differing > 0 ? [...others, { type: 'name_mismatch', level: 'danger', count: differing, items: [] }] : others)
  }
  const { warnings } = decisionOf(payment)
  const codes = warnings.flatMap(({ code }) => factTypes.find((type) => type === code && code !== 'name_mismatch') ?? [])
  const about = { ...beneficiary, beneficiaryId: beneficiary.id, payeeName: beneficiary.displayName }
  return inOrder([
    ...[...codes, ...(firstPayment ? ['first_payment' as const] : [])].map((type) => ({
      ...{ type, count: 1, items: [] },
      level: levelOf(type, 1, 1),
    })),
    ...nameFacts([{ ...about, amountMinor: payment.amountMinor }]),
  ])
}

export const storedFacts = (record: ApprovalRecord): Fact[] => record.approval.facts ?? factsFromText(record)

const shownApproval = presenter(Approval)

export const presentApproval = (
  record: ApprovalRecord,
  context?: Approval['context'],
  facts: Fact[] = storedFacts(record),
): Approval => {
  const { approval, batch, grantLabel: label } = record
  return shownApproval(approval, {
    facts,
    payment: batch ? null : presentSummary(record),
    batch:
      batch &&
      shownBatch(batch, {
        fees_minor: formatMinor(batch.feesMinor ?? 0n),
        initiated_by: presentCreator({ accountId: batch.initiatorAccountId, grantId: batch.grantId, label }),
      }),
    approvals_given: currentDecisions(record).filter((one) => one.decision === 'approve' && isCountedDecision(record, one))
      .length,
    decisions: record.decisions.map((decision) => presentApprovalDecision(decision, record)),
    approver_ids: record.onlyApprovers?.map((id) => formatId('account', id)) ?? null,
    signing: { approve: approval.approveMessage, reject: approval.rejectMessage },
    ...(context && { context }),
  })
}

export const presentListed = (record: ApprovalRecord, context?: Approval['context'], facts?: Fact[]): Approval => {
  const approval = presentApproval(record, context, facts)
  return { ...approval, payment: approval.payment && withoutTrace(approval.payment) }
}

export const approvalEvent = (type: Extract<EventType, `approval.${string}`>, record: ApprovalRecord): NewEvent => {
  const { accountId, workspaceId } = record.payment
  return { type, accountId, workspaceId, data: presentApproval(record) }
}
