import { and, eq } from 'drizzle-orm'
import { inTx, statement } from '../../../db/client.ts'
import { insertOnce, prepareWrite } from '../../../db/prepare-write.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { pushNotices } from '../../../db/tables/push.ts'
import type { Lane, Task } from '../../../jobs/lane.ts'
import { type Fact, factSentences, isToldFirst } from '../../../lib/approval-facts.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { displayAmount } from '../../../lib/money.ts'
import { quoted } from '../../../lib/text.ts'
import type { Parts } from '../../parts.ts'
import type { Push, PushMessage, SubscriptionRecord } from '../../push/send.ts'
import { liveSubscriptions, removeGone, toldSubscriptions } from '../../push/service.ts'
import { readEligible, readFacts } from './context.ts'
import { nameAtRail } from './message.ts'
import { type ApprovalRecord, findApproval } from './queries.ts'
import { awaitName } from './renew.ts'

// An approval that was requested or has ended is its own queue entry (`notice_due_at`). Each browser is told at most once: what is sent to it is
// written before.

/** A process that dies meanwhile leaves it due again after this time. */
const leaseSeconds = 60

/** An approval that another transaction is changing is skipped: it is read a moment later. */
const claimDue = statement(
  'approvals.claim_notices',
  `update approvals set notice_due_at = $1::timestamptz + make_interval(secs => ${leaseSeconds}) where id in (
     select id from approvals where notice_due_at <= $1 and id <> all($2::uuid[]) order by notice_due_at limit $3 for update skip locked)
   returning id, account_id as tenant`,
)
/** One that ended meanwhile stays due. */
const writeDone = prepareWrite('approvals.notices_sent', { id: 'uuid', status: 'text' }, (orm, at) =>
  orm
    .update(approvals)
    .set({ noticeDueAt: null })
    .where(and(eq(approvals.id, at.id), eq(approvals.status, at.status)))
    .returning({ id: approvals.id }),
)

const removeNotices = prepareWrite('push_notices.remove', { approvalId: 'uuid' }, (orm, at) =>
  orm.delete(pushNotices).where(eq(pushNotices.approvalId, at.approvalId)),
)

const longestSeconds = 28 * 86_400

/** It is read on a locked phone: the amount, who gets it, and the heaviest of what an approver must see. */
const noticeOf = ({ approval, batch, beneficiary, payment }: ApprovalRecord, facts: Fact[], publicUrl: string): PushMessage => {
  const tag = formatId('approval', approval.id)
  const ask = { tag, url: `${publicUrl}/approve/${tag}` }
  const of = batch?.itemsCount ?? 1
  const told = facts.some(isToldFirst) ? factSentences(facts, of, payment.currency) : []
  if (batch)
    return {
      ...ask,
      title: `${displayAmount(batch.totalMinor, batch.currency)} in ${batch.itemsCount} payments`,
      body: cut([...told, 'A list waits for your decision.'].join(' ')),
    }
  return {
    ...ask,
    title: `${displayAmount(payment.amountMinor, payment.currency)} to ${quoted(beneficiary.displayName)}`,
    body: cut(['Waits for your decision.', `Name at the rail: ${nameAtRail(beneficiary)}.`, ...told].join(' ')),
  }
}

/** A push message has at most 4 KB, and a phone shows a few lines: the heaviest fact comes first. */
const maxBody = 600
const cut = (text: string): string => (text.length <= maxBody ? text : `${[...text].slice(0, maxBody - 1).join('')}…`)

type Sender = Pick<Parts, 'clock' | 'config' | 'db' | 'rails'> & { push: Push }

const sendAll = async (
  { db, push }: Sender,
  approvalId: Uuid,
  { message, ttlSeconds }: { message: PushMessage; ttlSeconds: number },
  subscriptions: readonly SubscriptionRecord[],
): Promise<void> => {
  const delivery = { topic: approvalId.replaceAll('-', ''), ttlSeconds }
  for (const subscription of subscriptions)
    if (!(await push.send(subscription, message, delivery))) await removeGone(db, subscription.id)
}

/** Tells the browsers, of those who may decide it, that were not told before. */
const request = async (deps: Sender, record: ApprovalRecord): Promise<SubscriptionRecord[]> => {
  const { id, expiresAt } = record.approval
  const all = await liveSubscriptions(deps.db, deps, await readEligible(deps.db, deps.clock, record))
  if (all.length === 0) return []
  const fresh = await inTx(deps.db, async (tx) => {
    const inserted = await Promise.all(
      all.map(({ id: subscriptionId }) => insertOnce(tx, pushNotices, { approvalId: id, subscriptionId, requestedAt: tx.at })),
    )
    return all.filter((_, place) => inserted[place])
  })
  const seconds = Math.ceil((expiresAt.getTime() - deps.clock.now().getTime()) / 1000)
  const ttlSeconds = Math.min(Math.max(seconds, 0), longestSeconds)
  await sendAll(deps, id, { message: noticeOf(record, await readFacts(deps, record), deps.config.publicUrl), ttlSeconds }, fresh)
  return fresh
}

const takeBack = (deps: Sender, id: Uuid, subscriptions: readonly SubscriptionRecord[]): Promise<void> =>
  sendAll(deps, id, { message: { tag: formatId('approval', id) }, ttlSeconds: longestSeconds }, subscriptions)

const tell = async (deps: Sender, id: Uuid): Promise<void> => {
  await awaitName(deps, id)
  const record = await findApproval(deps.db, id)
  if (!record) return
  const { status } = record.approval
  const asked = status === 'pending' ? await request(deps, record) : []
  if (status !== 'pending') {
    await takeBack(deps, id, await toldSubscriptions(deps.db, deps, id))
    await deps.db.run(removeNotices, { approvalId: id })
  }
  const isDone = (await deps.db.run(writeDone, { id, status })).length > 0
  // Another process may have taken the notices back while these were under way.
  if (!isDone) await takeBack(deps, id, asked)
}

export const createNoticesLane = (deps: Omit<Sender, 'push'> & { push: Push | null }): Lane => ({
  name: 'notices',
  limit: 8,
  claim: async ({ free, except }) => {
    const { push } = deps
    if (!push) return { tasks: [], more: false }
    const due = await deps.db.query<{ id: Uuid; tenant: Uuid }>(claimDue, [deps.clock.now(), except, free])
    const tasks = due.map(({ id, tenant }): Task => ({ key: id, tenant, run: () => tell({ ...deps, push }, id) }))
    return { tasks, more: due.length === free }
  },
})
