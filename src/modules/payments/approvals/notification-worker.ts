import { and, eq, sql } from 'drizzle-orm'
import { inTx } from '../../../db/client.ts'
import { insertOnce, prepareWrite } from '../../../db/prepare-write.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { pushNotifications } from '../../../db/tables/push.ts'
import { createTurns, queueInTurn } from '../../../jobs/turns.ts'
import type { Worker } from '../../../jobs/worker.ts'
import { type Fact, factSentences, groupDigits, isHeadline } from '../../../lib/approval-facts.ts'
import { isoTime } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { chunksOf } from '../../../lib/lists.ts'
import { displayAmount } from '../../../lib/money.ts'
import { quoted } from '../../../lib/text.ts'
import { queueMail } from '../../mail/service.ts'
import { wantingPush } from '../../mail/settings-service.ts'
import type { Parts } from '../../parts.ts'
import type { Push, PushMessage, SubscriptionRecord } from '../../push/send.ts'
import { liveSubscriptions, notifiedSubscriptions, removeGone } from '../../push/service.ts'
import { readEligibleApprovers, readFacts } from './context.ts'
import { registeredName } from './message.ts'
import { type ApprovalRecord, findApproval } from './queries.ts'
import { awaitName } from './renew.ts'
import { readRequestedBy } from './request.ts'

// A requested or ended approval is its own queue entry (`notice_due_at`). Each browser is notified at most once, because the row
// of a notification is written before the notification is sent.

const queue = queueInTurn('notices', { table: 'approvals', tenant: 'account_id', due: 'notice_due_at', leaseSeconds: 60 })
/** Changes nothing if the approval has ended meanwhile, so that it stays due. */
const writeDone = prepareWrite('approvals.notices_sent', { id: 'uuid', status: 'text', next: 'timestamptz|null' }, (orm, param) =>
  orm
    .update(approvals)
    .set({ noticeDueAt: param.next })
    .where(and(eq(approvals.id, param.id), eq(approvals.status, param.status)))
    .returning({ id: approvals.id }),
)

/** Keeps the row that a page shows for each person. The others served only to withdraw the notifications. */
const forgetBrowsers = prepareWrite('push_notices.forget', { approvalId: 'uuid' }, (orm, param) =>
  orm.delete(pushNotifications).where(
    and(
      eq(pushNotifications.approvalId, param.approvalId),
      sql`(${pushNotifications.accountId} is null or exists (select from push_notices earlier
        where earlier.approval_id = ${pushNotifications.approvalId} and earlier.account_id = ${pushNotifications.accountId}
          and (earlier.requested_at, earlier.subscription_id) < (${pushNotifications.requestedAt}, ${pushNotifications.subscriptionId})))`,
    ),
  ),
)

const longestSeconds = 28 * 86_400

/** Text for a phone's lock screen: the amount, the payee and the most severe facts. */
const pushMessageOf = (
  { approval, batch, beneficiary, payment }: ApprovalRecord,
  facts: Fact[],
  publicUrl: string,
): PushMessage => {
  const tag = formatId('approval', approval.id)
  const link = { tag, url: `${publicUrl}/approve/${tag}` }
  const of = batch?.itemsCount ?? 1
  const factTexts = facts.some(isHeadline) ? factSentences(facts, of, payment.currency) : []
  if (batch)
    return {
      ...link,
      title: `${displayAmount(batch.totalMinor, batch.currency)} in ${batch.itemsCount} payments`,
      body: cut([...factTexts, 'A payment batch needs your decision.'].join(' ')),
    }
  return {
    ...link,
    title: `${displayAmount(payment.amountMinor, payment.currency)} to ${quoted(beneficiary.displayName)}`,
    body: cut(['Needs your decision.', `Registered name: ${registeredName(beneficiary)}.`, ...factTexts].join(' ')),
  }
}

/** In characters. A phone shows only a few lines of a push message (4 KB at most), so the most severe fact comes first. */
const maxBody = 600
const cut = (text: string): string => (text.length <= maxBody ? text : `${[...text].slice(0, maxBody - 1).join('')}…`)

type NotifyDeps = Pick<Parts, 'clock' | 'config' | 'db' | 'rails'> & { push: Push | null }
type Sender = NotifyDeps & { push: Push }

const sendAll = async (
  { db, push }: Sender,
  approvalId: Uuid,
  { message, ttlSeconds }: { message: PushMessage; ttlSeconds: number },
  subscriptions: readonly SubscriptionRecord[],
): Promise<void> => {
  const delivery = { topic: approvalId.replaceAll('-', ''), ttlSeconds }
  const send = async (subscription: SubscriptionRecord) => {
    if (!(await push.send(subscription, message, delivery))) await removeGone(db, subscription.id)
  }
  for (const chunk of chunksOf(subscriptions, 10)) await Promise.all(chunk.map(send))
}

/** Approvers receive an email when an approval is requested, and again halfway to its expiry. */
const halfwayToExpiry = ({ approval: { createdAt, expiresAt } }: ApprovalRecord): Date =>
  new Date((createdAt.getTime() + expiresAt.getTime()) / 2)

const email = async ({ db, clock }: NotifyDeps, record: ApprovalRecord, to: readonly Uuid[], facts: Fact[]): Promise<void> => {
  const { approval, payment, batch, beneficiary } = record
  const { id, expiresAt, workspaceId } = approval
  const { requester } = await readRequestedBy(db, payment)
  const { currency } = payment
  const isReminder = clock.now() >= halfwayToExpiry(record)
  const subjectValues = batch
    ? { amount: displayAmount(batch.totalMinor, currency), count: groupDigits(batch.itemsCount) }
    : {
        amount: displayAmount(payment.amountMinor, currency),
        payee: quoted(beneficiary.displayName),
        reported: beneficiary.reportedName && quoted(beneficiary.reportedName),
      }
  await inTx(db, async (tx) =>
    queueMail(tx, {
      kind: isReminder ? 'approval_still_waits' : 'approval_waits',
      cause: `approval/${id}/${isReminder ? 'half' : 'asked'}`,
      to,
      about: { kind: 'approval', id },
      workspaceId,
      path: `/approve/${formatId('approval', id)}`,
      values: { ...subjectValues, by: quoted(requester) },
      times: { expires: isoTime(expiresAt) },
      facts: { all: facts, of: batch?.itemsCount ?? 1, currency },
    }),
  )
}

/** Notifies each browser of the accounts that may decide, unless it was notified before. */
const pushRequest = async (deps: Sender, record: ApprovalRecord, to: readonly Uuid[], facts: Fact[]) => {
  const { id, expiresAt } = record.approval
  const all = await liveSubscriptions(deps.db, deps, await wantingPush(deps.db, to))
  if (all.length === 0) return []
  const notYetNotified = await inTx(deps.db, async (tx) => {
    const inserted = await Promise.all(
      all.map(({ id: subscriptionId, accountId }) =>
        insertOnce(tx, pushNotifications, { approvalId: id, subscriptionId, accountId, requestedAt: tx.at }),
      ),
    )
    return all.filter((_, index) => inserted[index])
  })
  const seconds = Math.ceil((expiresAt.getTime() - deps.clock.now().getTime()) / 1000)
  const ttlSeconds = Math.min(Math.max(seconds, 0), longestSeconds)
  await sendAll(deps, id, { message: pushMessageOf(record, facts, deps.config.publicUrl), ttlSeconds }, notYetNotified)
  return notYetNotified
}

const withdraw = (deps: Sender, id: Uuid, subscriptions: readonly SubscriptionRecord[]): Promise<void> =>
  sendAll(deps, id, { message: { tag: formatId('approval', id) }, ttlSeconds: longestSeconds }, subscriptions)

const notify = async (deps: NotifyDeps, id: Uuid): Promise<void> => {
  await awaitName(deps, id)
  const record = await findApproval(deps.db, id)
  if (!record) return
  const { push, clock } = deps
  const sender = push && { ...deps, push }
  const { status, expiresAt } = record.approval
  let pushed: readonly SubscriptionRecord[] = []
  if (status === 'pending' && clock.now() < expiresAt) {
    const [to, facts] = await Promise.all([readEligibleApprovers(deps.db, clock, record), readFacts(deps, record)])
    if (to.length > 0) await email(deps, record, to, facts)
    if (sender) pushed = await pushRequest(sender, record, to, facts)
  } else {
    if (sender) await withdraw(sender, id, await notifiedSubscriptions(deps.db, deps, id))
    await deps.db.run(forgetBrowsers, { approvalId: id })
  }
  const half = halfwayToExpiry(record)
  const next = status === 'pending' && half > clock.now() ? half : null
  const isDone = (await deps.db.run(writeDone, { id, status, next })).length > 0
  // The approval ended meanwhile: another process may have withdrawn notifications before these were sent.
  if (!isDone && sender) await withdraw(sender, id, pushed)
}

export const createNotificationWorker = (deps: NotifyDeps): Worker => ({
  name: 'notices',
  limit: 8,
  claim: createTurns(deps, queue, ({ id }) => notify(deps, id)),
})
