import { and, asc, eq, sql } from 'drizzle-orm'
import { canSign, countsFrom } from '../../../auth/authority-sql.ts'
import { decidingRoles } from '../../../auth/permissions.ts'
import type { Principal } from '../../../auth/principal.ts'
import type { Db } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { namesSql } from '../../../db/tables/columns.ts'
import { members, workspaces } from '../../../db/tables/workspaces.ts'
import { getBalance } from '../../../ledger/balance.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { typicalAmount } from '../../../policy/unusual.ts'
import { readItemsOf } from '../batch/queries.ts'
import type { Deps } from '../deps.ts'
import { thoseThatMayBePaidTwice } from '../lifecycle/lost-writes.ts'
import type { Histories, History } from './payee-histories.ts'
import { type ApprovalRecord, asksForTwo, counts, currentDecisions } from './queries.ts'

type PayeeHistory = { paymentsCount: number; lastPaidAt: Date | null; typicalAmountMinor: Minor | null }

/**
 * Information that helps to decide and is not part of the approval itself: earlier payments to this payee (null for a batch), what the limits
 * leave, who else may decide.
 */
export type ApprovalContext = {
  payee: PayeeHistory | null
  availableAfterMinor: Minor
  eligibleApprovers: Uuid[]
  /** How many of its payments may have been sent in writes that were lost, and are not sent when they are approved. */
  mayHaveBeenSent: number
}

type ContextDeps = Pick<Deps, 'clock' | 'db' | 'rails'>

const neverPaid: PayeeHistory = { paymentsCount: 0, lastPaidAt: null, typicalAmountMinor: null }

const deciders = prepare(
  'approvals.deciders',
  { workspaceId: 'uuid' },
  (orm, at) =>
    orm
      .select({
        accountId: members.accountId,
        canSign: sql<boolean>`${sql.raw(canSign('accounts.id'))}`,
        countsFrom: sql`${sql.raw(countsFrom('members', 'workspaces'))}`.mapWith(members.decidingSince),
      })
      .from(members)
      .innerJoin(accounts, eq(accounts.id, members.accountId))
      .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
      .where(
        and(
          eq(members.workspaceId, at.workspaceId),
          eq(members.status, 'active'),
          sql`${members.role} in ${sql.raw(namesSql(decidingRoles))}`,
          eq(accounts.status, 'active'),
        ),
      )
      .orderBy(asc(members.id)),
  'joined',
)

type Decider = { accountId: Uuid; canSign: boolean; countsFrom: Date | null }

/**
 * As when a decision is made: an account whose decision counts need not decide again, the initiator cannot where duties are separate, and where two
 * are asked for an approver of today does not count yet.
 */
const eligibleAmong = (record: ApprovalRecord, deciders: readonly Decider[], now: Date): Uuid[] => {
  const { approval, payment } = record
  const excluded = new Set([
    ...currentDecisions(record)
      .filter((decision) => counts(record, decision))
      .map(({ accountId }) => accountId),
    ...(approval.separationOfDuties ? [payment.initiatorAccountId] : []),
  ])
  return deciders
    .filter(({ countsFrom }) => !asksForTwo(record) || countsFrom === null || countsFrom <= now)
    .filter(({ canSign }) => approval.approvalProof === 'any' || canSign)
    .map(({ accountId }) => accountId)
    .filter((id) => !excluded.has(id))
}

/** The accounts that may decide it now. */
export const readEligible = async ({ clock, db }: Pick<Deps, 'clock' | 'db'>, record: ApprovalRecord): Promise<Uuid[]> =>
  eligibleAmong(record, await db.run(deciders, { workspaceId: record.payment.workspaceId }), clock.now())

const payeeOf = (history: History | undefined): PayeeHistory => {
  if (!history) return neverPaid
  const { paymentsCount, lastPaidAt, lastPaid } = history
  return { paymentsCount, lastPaidAt, typicalAmountMinor: typicalAmount(lastPaid) }
}

/** Of records that are read again and again: a list of what waits is opened often, and changes seldom. */
const contextOf = (
  record: ApprovalRecord,
  history: History | undefined,
  availableMinor: Minor,
  eligibleApprovers: Uuid[],
  mayHaveBeenSent: number,
): ApprovalContext => ({
  payee: record.approval.batchId === null ? payeeOf(history) : null,
  availableAfterMinor: availableMinor,
  eligibleApprovers,
  mayHaveBeenSent,
})

/** By approval; after a loss of writes, and never otherwise: by the same rule as when they are sent. */
const countLost = async ({ db, rails, clock }: ContextDeps, records: readonly ApprovalRecord[]): Promise<Map<Uuid, number>> => {
  const older = records.filter(({ approval, olderThanLoss }) => olderThanLoss && approval.status === 'pending')
  if (older.length === 0) return new Map()
  const items = await readItemsOf(
    db,
    older.flatMap(({ approval }) => approval.batchId ?? []),
  )
  const idsOf = ({ approval, payment }: ApprovalRecord) =>
    approval.batchId === null ? [payment.id] : items.filter(({ batchId }) => batchId === approval.batchId).map(({ id }) => id)
  const paidTwice = await thoseThatMayBePaidTwice(db, rails, older.flatMap(idsOf), clock.now())
  return new Map(older.map((record) => [record.approval.id, idsOf(record).filter((id) => paidTwice.has(id)).length]))
}

/**
 * Reads what is known without the approvals themselves: a route of one approval sends these statements together with those that read it.
 */
export const readContexts = async (
  deps: ContextDeps,
  workspace: Pick<Principal['workspace'], 'id' | 'owningAccountId'>,
  readHistories: (db: Db) => Promise<Histories>,
): Promise<(records: readonly ApprovalRecord[]) => Promise<(record: ApprovalRecord) => ApprovalContext>> => {
  const { db } = deps
  const [histories, mayDecide, { availableMinor }] = await Promise.all([
    readHistories(db),
    db.run(deciders, { workspaceId: workspace.id }),
    // The amount is held already while the payment waits, so the available balance is the one after the payment.
    getBalance(db, workspace.owningAccountId),
  ])
  const now = deps.clock.now()
  return async (records) => {
    const lost = await countLost(deps, records)
    return (record) => {
      const { id } = record.approval
      const eligible = eligibleAmong(record, mayDecide, now)
      return contextOf(record, histories.get(id), availableMinor, eligible, lost.get(id) ?? 0)
    }
  }
}
