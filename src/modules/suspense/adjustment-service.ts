import { and, eq, sql } from 'drizzle-orm'
import type { Config } from '../../config.ts'
import { lockNames } from '../../db/account-lock.ts'
import { type Db, first, type Tx } from '../../db/client.ts'
import { newestFirst } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, nullsOf, prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { adjustments } from '../../db/tables/adjustments.ts'
import { owningAccountSql } from '../../db/tables/workspaces.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import type { PageRequest } from '../../http/pagination.ts'
import { presenter } from '../../http/presenter.ts'
import { lockBalance, transfer } from '../../ledger/ledger.ts'
import { daysAfter } from '../../lib/clock.ts'
import { conflict, found, notFound, Refusal } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { formatMinor, type Minor } from '../../lib/money.ts'
import { findAccount, getAccount } from '../identity/accounts/queries.ts'
import { balanceUpdated } from '../identity/accounts/service.ts'
import { type BalanceName, nameBalances, nameOfOperator, type Operator, refuseOwnAccount } from '../operators.ts'
import { findWorkspace } from '../workspaces/queries.ts'
import { Adjustment, type CreateAdjustment } from './schema.ts'

type AdjustmentRecord = typeof adjustments.$inferSelect

export const findAdjustment = selectRow('adjustments.by_id', adjustments, ['id'])

/** The caller already holds the balance's lock. */
const lockAdjustment = selectRow('adjustments.lock', adjustments, ['id'], { lock: 'update' })

const list = prepare(
  'adjustments.list',
  { status: 'text?', accountId: 'uuid?', workspaceId: 'uuid?', before: 'uuid?', take: 'rows' },
  'pool',
  (orm, param) =>
    newestFirst(
      orm.select().from(adjustments),
      { id: adjustments.id },
      param,
      param.status && eq(adjustments.status, param.status),
      param.accountId && sql`${sql.raw(owningAccountSql('adjustments.account_id'))} = ${param.accountId}`,
      param.workspaceId &&
        sql`${adjustments.accountId} in (select h.id from accounts h where h.holder_of_workspace_id = ${param.workspaceId})`,
    ),
)

export const listAdjustments = (
  db: Db,
  filter: { status?: AdjustmentRecord['status'] | undefined; accountId?: Uuid | undefined; workspaceId?: Uuid | undefined },
  page: PageRequest,
): Promise<AdjustmentRecord[]> => db.run(list, { ...filter, ...page })

const waiting = prepare('adjustments.waiting', { paymentIds: 'uuid[]' }, (orm, param) =>
  orm
    .select({ id: adjustments.id, paymentId: adjustments.paymentId })
    .from(adjustments)
    .where(and(sql`${adjustments.paymentId} = any(${param.paymentIds})`, sql`${adjustments.status} = 'pending'`)),
)

export const waitingOfPayments = async (db: Db, paymentIds: readonly Uuid[]): Promise<Map<Uuid, Uuid>> => {
  if (paymentIds.length === 0) return new Map()
  const rows = await db.run(waiting, { paymentIds })
  return new Map(rows.flatMap(({ id, paymentId }) => (paymentId === null ? [] : [[paymentId, id] as const])))
}

const shownAdjustment = presenter(Adjustment)

const presentAdjustment = (adjustment: AdjustmentRecord, { accountId, workspaceId }: BalanceName): Adjustment =>
  shownAdjustment(adjustment, {
    account_id: formatId('account', accountId),
    workspace_id: workspaceId && formatId('workspace', workspaceId),
    direction: adjustment.amountMinor > 0n ? 'credit' : 'debit',
    amount_minor: formatMinor(adjustment.amountMinor > 0n ? adjustment.amountMinor : -adjustment.amountMinor),
  })

export const viewAdjustments = async (db: Db, adjustments: readonly AdjustmentRecord[]): Promise<Adjustment[]> => {
  const accountIds = adjustments.map(({ accountId }) => accountId)
  const nameOf = await nameBalances(db, accountIds)
  return adjustments.map((adjustment) => presentAdjustment(adjustment, nameOf(adjustment.accountId)))
}

type Step = 'request' | 'post' | 'reject' | 'cancel'

const auditStep = async (tx: Tx, actor: Actor, step: Step, adjustment: AdjustmentRecord, reason?: string): Promise<void> => {
  const view = only(await viewAdjustments(tx, [adjustment]))
  audit(tx, actor, `admin.adjustment_${step}`, {
    workspaceId: null,
    subject: adjustment.id,
    after: { ...view, ...(reason !== undefined && { rejected_because: reason }) },
  })
}

const propose = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  terms: Pick<AdjustmentRecord, 'kind' | 'accountId' | 'paymentId' | 'amountMinor' | 'reason'>,
): Promise<AdjustmentRecord> => {
  const adjustment: AdjustmentRecord = {
    ...nullsOf(adjustments),
    ...terms,
    id: newId(),
    status: 'pending',
    currency: config.CURRENCY,
    requestedBy: nameOfOperator(operator),
    createdAt: tx.at,
  }
  insertRow(tx, adjustments, adjustment)
  await auditStep(tx, operator, 'request', adjustment)
  return adjustment
}

const recordDecision = async (
  tx: Tx,
  operator: Operator,
  adjustment: AdjustmentRecord,
  change: Partial<AdjustmentRecord> & { status: 'posted' | 'rejected' },
  reason?: string,
): Promise<AdjustmentRecord> => {
  const decided = updateRow(tx, adjustments, adjustment, { ...change, decidedBy: nameOfOperator(operator), decidedAt: tx.at })
  await auditStep(tx, operator, change.status === 'posted' ? 'post' : 'reject', decided, reason)
  return decided
}

/**
 * Whether this amount is within the daily limit for one administrator, which counts all value moved alone, in either direction:
 * adjustments (including suspense items), payments resolved as failed, late successes written off, and money out of suspense.
 */
export const mayDecideAlone = async (tx: Tx, config: Config, operator: Operator, amountMinor: Minor): Promise<boolean> => {
  const name = nameOfOperator(operator)
  // Serializes simultaneous requests, so that each one counts the requests before it.
  await lockNames(tx, `adjustments:${name}`)
  const moved = await tx.query<{ sum: Minor }>(
    `select coalesce(sum(minor), 0)::bigint as sum from (
       select abs(amount_minor) as minor from adjustments
       where requested_by = $1 and decided_by = $1 and status = 'posted' and decided_at > $2
       union all
       select amount_minor from suspense_items
       where resolved_by = $1 and resolved_at > $2 and transfer_id is not null and outcome <> 'adjusted' and proposed_by is null) as moved`,
    [name, daysAfter(tx.at, -1)],
  )
  return only(moved).sum + amountMinor <= config.ADJUSTMENT_CONFIRM_MINOR
}

/**
 * Whether two administrators agree, or one is enough for this amount. `requester`: the name of the first requester, who does not
 * count as the second administrator.
 */
export const isAgreed = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  amountMinor: Minor,
  requester: string | null = null,
): Promise<boolean> =>
  (requester !== null && requester !== nameOfOperator(operator)) || (await mayDecideAlone(tx, config, operator, amountMinor))

/** Money in a closed account would be lost to its owner. The caller has locked the balance. */
export const refuseClosed = async (tx: Tx, accountId: Uuid): Promise<void> => {
  const { status } = await getAccount(tx, accountId)
  if (status === 'closed') throw conflict('This account is closed.', 'status', { status })
}

/** The caller has locked the balance. */
const postToLedger = async (tx: Tx, operator: Operator, adjustment: AdjustmentRecord): Promise<AdjustmentRecord> => {
  const { id, accountId, amountMinor, reason } = adjustment
  const { transferId, balance } = await transfer(tx, {
    ownerId: accountId,
    amountMinor,
    against: 'adjustments',
    reference: { type: 'adjustment', id },
    memo: reason,
  })
  await appendEvents(tx, await balanceUpdated(tx, accountId, balance))
  return recordDecision(tx, operator, adjustment, { status: 'posted', transferId })
}

/** Returns the account that holds the named balance, a person's or a workspace's. */
export const balanceNamed = async (
  db: Db,
  { account_id, workspace_id }: { account_id?: Uuid | undefined; workspace_id?: Uuid | undefined },
): Promise<Uuid> => {
  if (workspace_id !== undefined) {
    const workspace = await findWorkspace(db, workspace_id)
    if (!workspace) throw notFound('workspace_id')
    return workspace.balanceAccountId
  }
  if (account_id === undefined || !(await findAccount(db, account_id))) throw notFound('account_id')
  return account_id
}

/** Corrects a balance at once, or after a second administrator's confirmation if the first may not decide alone. */
export const createAdjustment = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  { account_id, workspace_id, amount_minor: amount, direction, reason }: CreateAdjustment,
): Promise<AdjustmentRecord> => {
  const accountId = await balanceNamed(tx, { account_id, workspace_id })
  await lockBalance(tx, accountId)
  await refuseOwnAccount(tx, operator, accountId)
  if (direction === 'credit') await refuseClosed(tx, accountId)
  const amountMinor = direction === 'credit' ? amount : -amount
  const adjustment = await propose(tx, config, operator, { kind: 'balance', accountId, paymentId: null, amountMinor, reason })
  return (await isAgreed(tx, config, operator, amount)) ? postToLedger(tx, operator, adjustment) : adjustment
}

const lockPending = async (tx: Tx, id: Uuid, decision: 'posted' | 'rejected'): Promise<AdjustmentRecord> => {
  const unlocked = found(await findAdjustment(tx, { id }))
  await lockBalance(tx, unlocked.accountId)
  const adjustment = found(await lockAdjustment(tx, { id }))
  if (adjustment.status !== 'pending' && adjustment.status !== decision) {
    throw conflict(`The adjustment is ${adjustment.status}.`, 'status', { status: adjustment.status })
  }
  return adjustment
}

/** Administrators cannot confirm their own requests. A repeated confirmation gets the same answer. */
export const confirmAdjustment = async (tx: Tx, operator: Operator, id: Uuid): Promise<AdjustmentRecord> => {
  const adjustment = await lockPending(tx, id, 'posted')
  if (adjustment.status === 'posted') return adjustment
  if (adjustment.paymentId !== null)
    throw conflict('Confirm it by resolving its payment with the same outcome and your own evidence.', 'payment', {
      payment_id: formatId('payment', adjustment.paymentId),
    })
  await refuseOwnAccount(tx, operator, adjustment.accountId)
  if (adjustment.amountMinor > 0n) await refuseClosed(tx, adjustment.accountId)
  if (adjustment.requestedBy === nameOfOperator(operator)) {
    throw new Refusal('separation_of_duties', { message: 'An adjustment of this size needs a second administrator.' })
  }
  return postToLedger(tx, operator, adjustment)
}

/** Administrators may also reject their own requests, but no other administrator's about a balance of theirs. */
export const rejectAdjustment = async (tx: Tx, operator: Operator, id: Uuid, reason?: string): Promise<AdjustmentRecord> => {
  const adjustment = await lockPending(tx, id, 'rejected')
  if (adjustment.status === 'rejected') return adjustment
  if (adjustment.requestedBy !== nameOfOperator(operator)) await refuseOwnAccount(tx, operator, adjustment.accountId)
  return recordDecision(tx, operator, adjustment, { status: 'rejected' }, reason)
}

export type Cost = {
  kind: Exclude<AdjustmentRecord['kind'], 'balance'>
  payment: { id: Uuid; accountId: Uuid }
  amountMinor: Minor
  evidence: string
}

const lockOfPayment = prepare('adjustments.lock_of_payment', { paymentId: 'uuid', kind: 'text' }, (orm, param) =>
  orm
    .select()
    .from(adjustments)
    .where(
      and(eq(adjustments.paymentId, param.paymentId), eq(adjustments.kind, param.kind), sql`${adjustments.status} = 'pending'`),
    )
    .for('update'),
)

/** Null if the outcome may be applied, otherwise the waiting adjustment's id. Idempotent. The caller has locked the account. */
export const agreeToCost = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  { kind, payment: { id: paymentId, accountId }, amountMinor, evidence }: Cost,
): Promise<Uuid | null> => {
  await refuseOwnAccount(tx, operator, accountId)
  const waiting = await first(tx, lockOfPayment, { paymentId, kind })
  if (waiting?.requestedBy === nameOfOperator(operator)) return waiting.id
  const adjustment =
    waiting ?? (await propose(tx, config, operator, { kind, accountId, paymentId, amountMinor, reason: evidence }))
  if (!(await isAgreed(tx, config, operator, amountMinor, waiting?.requestedBy))) return adjustment.id
  await recordDecision(tx, operator, adjustment, { status: 'posted' })
  return null
}

const cancelRows = prepareWrite('adjustments.cancel', { paymentIds: 'uuid[]', at: 'timestamptz' }, (orm, param) =>
  orm
    .update(adjustments)
    .set({ status: 'cancelled', decidedAt: param.at })
    .where(and(sql`${adjustments.paymentId} = any(${param.paymentIds})`, sql`${adjustments.status} = 'pending'`))
    .returning(),
)

/** Cancels waiting adjustments of ended payments. `actor`: the one who ended the payment. The caller locked the accounts. */
export const cancelWaitingCosts = async (tx: Tx, ended: readonly { paymentId: Uuid; actor: Actor }[]): Promise<void> => {
  const actors = new Map(ended.map(({ paymentId, actor }) => [paymentId, actor]))
  if (actors.size === 0) return
  const cancelled = await tx.run(cancelRows, { paymentIds: [...actors.keys()], at: tx.at })
  for (const adjustment of cancelled) {
    const actor = adjustment.paymentId === null ? undefined : actors.get(adjustment.paymentId)
    if (actor) await auditStep(tx, actor, 'cancel', adjustment)
  }
}
