import { and, eq, lte, sql } from 'drizzle-orm'
import type { Tx } from '../../db/client.ts'
import { prepareWrite } from '../../db/prepare-write.ts'
import { topups } from '../../db/tables/topups.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Earlier, notSent, type Outgoing, tryOpen } from '../attempts/attempt.ts'
import type { Parts } from '../parts.ts'
import { readDueTopups, type TopupRecord } from './queries.ts'
import { phoneContext } from './service.ts'

const setDue = prepareWrite('topups.set_due', { id: 'uuid', due: 'timestamptz' }, (orm, at) =>
  orm
    .update(topups)
    .set({ dispatchDueAt: at.due })
    .where(and(eq(topups.id, at.id), sql`${topups.status} = 'pending'`)),
)
const leaveQueue = prepareWrite('topups.leave_queue', { ids: 'uuid[]', now: 'timestamptz' }, (orm, at) =>
  orm
    .update(topups)
    .set({ dispatchDueAt: null })
    .where(and(sql`${topups.id} = any(${at.ids})`, lte(topups.dispatchDueAt, at.now))),
)

type SendParts = Pick<Parts, 'logger' | 'rails' | 'vault'>

const outgoingOf = (deps: SendParts, topup: TopupRecord, earlier: Earlier): Outgoing => {
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

/** When its prompt is to be sent again. Does nothing when it has ended. */
export const sendTopupAt = async (tx: Tx, id: Uuid, due: Date): Promise<void> => void (await tx.run(setDue, { id, due }))

/** Prompts that are due, taken out of the queue. The caller has locked their accounts. A top-up that is too old gets no prompt: it expires. */
export const prepareTopups = async (tx: Tx, deps: SendParts, ids: readonly Uuid[]): Promise<Outgoing[]> => {
  const { at } = tx
  const [due] = await Promise.all([readDueTopups(tx, ids, at), tx.run(leaveQueue, { ids, now: at })])
  const isLate = (topup: TopupRecord) => at >= topup.expiresAt
  return due.filter(({ topup }) => !isLate(topup)).map(({ topup, earlier }) => outgoingOf(deps, topup, earlier))
}
