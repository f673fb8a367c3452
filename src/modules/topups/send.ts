import { and, eq, lte, sql } from 'drizzle-orm'
import type { Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { topups } from '../../db/tables/topups.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type EarlierSends, earlierSendsSql, notSent, type Outgoing, tryOpen } from '../attempts/attempt.ts'
import type { Parts } from '../parts.ts'
import type { TopupRecord } from './queries.ts'
import { phoneContext } from './service.ts'

const leaveQueue = prepareWrite('topups.leave_queue', { ids: 'uuid[]', now: 'timestamptz' }, (orm, param) =>
  orm
    .update(topups)
    .set({ dispatchDueAt: null })
    .where(and(sql`${topups.id} = any(${param.ids})`, lte(topups.dispatchDueAt, param.now))),
)

/** Due top-ups without an attempt that may have been sent. The caller has locked their accounts. */
const due = prepare('topups.due', { ids: 'uuid[]', at: 'timestamptz' }, 'pool', (orm, param) =>
  orm
    .select({ topup: topups, earlier: sql<EarlierSends>`${sql.raw(earlierSendsSql('topups.id'))}` })
    .from(topups)
    .where(
      and(
        sql`${topups.id} = any(${param.ids})`,
        eq(topups.status, 'pending'),
        lte(topups.dispatchDueAt, param.at),
        sql`not exists (select from rail_attempts a where a.subject_id = ${topups.id} and a.state <> 'not_sent')`,
      ),
    )
    .orderBy(topups.dispatchDueAt, topups.id),
)

type SendParts = Pick<Parts, 'logger' | 'rails' | 'vault'>

const outgoingOf = (deps: SendParts, topup: TopupRecord, earlier: EarlierSends): Outgoing => {
  const { id, amountMinor, currency, phoneCiphertext, phoneKeyId } = topup
  if (amountMinor === null || phoneCiphertext === null || phoneKeyId === null)
    throw new Error('a top-up without a phone is in the queue of prompts')
  return {
    subjectId: id,
    accountId: topup.accountId,
    seed: ['topup', id],
    earlier,
    amountMinor,
    traceparent: topup.traceparent,
    send: async (sending) => {
      const rail = deps.rails.collection
      if (!rail) return notSent('provider_not_configured')
      const phoneNumber = tryOpen(deps, { ciphertext: phoneCiphertext, keyId: phoneKeyId }, phoneContext(topup))
      if (phoneNumber === undefined) return notSent('destination_unreadable')
      return rail.collect({ ...sending, amountMinor, currency, phoneNumber })
    },
  }
}

/** The caller has locked the top-up's account. */
export const sendTopupAt = (tx: Tx, topup: TopupRecord, due: Date): void => {
  if (topup.status === 'pending') updateRow(tx, topups, topup, { dispatchDueAt: due })
}

/** Takes top-ups out of the queue. A top-up that is past its end gets no prompt. The caller has locked their accounts. */
export const prepareTopups = async (tx: Tx, deps: SendParts, ids: readonly Uuid[]): Promise<Outgoing[]> => {
  const { at } = tx
  const [found] = await Promise.all([tx.run(due, { ids, at }), tx.run(leaveQueue, { ids, now: at })])
  return found.filter(({ topup }) => at < topup.expiresAt).map(({ topup, earlier }) => outgoingOf(deps, topup, earlier))
}
