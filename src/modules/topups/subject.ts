import { and, eq, lte, sql } from 'drizzle-orm'
import type { Tx } from '../../db/client.ts'
import { prepareWrite } from '../../db/prepare-write.ts'
import { topups } from '../../db/tables/topups.ts'
import type { Uuid } from '../../lib/ids.ts'
import { tryOpen } from '../payments/lifecycle/attempts/for-rail.ts'
import {
  type AttemptSubject,
  type Earlier,
  notSent,
  type Outgoing,
  type PrepareDeps,
  type Report,
  type Verdict,
} from '../payments/lifecycle/attempts/subject.ts'
import type { Deps } from './deps.ts'
import { settleTopup } from './outcome.ts'
import { lockTopupsWithAccounts, readDueTopups, type TopupRecord } from './queries.ts'
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

const outgoingOf = (deps: Pick<Deps, 'logger' | 'rails' | 'vault'>, topup: TopupRecord, earlier: Earlier): Outgoing => {
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

const prepare = async (tx: Tx, deps: PrepareDeps, ids: readonly Uuid[]): Promise<Outgoing[]> => {
  const { at } = tx
  const [due] = await Promise.all([readDueTopups(tx, ids, at), tx.run(leaveQueue, { ids, now: at })])
  const isLate = (topup: TopupRecord) => at >= topup.expiresAt
  return due.filter(({ topup }) => !isLate(topup)).map(({ topup, earlier }) => outgoingOf(deps, topup, earlier))
}

/** How top-ups are sent: a prompt on the payer's phone. A top-up that is too old gets no prompt: it expires. */
export const topupSubject: AttemptSubject = {
  kind: 'topup',
  open: async (tx, ids) => {
    const records = new Map((await lockTopupsWithAccounts(tx, ids)).map((topup) => [topup.id, topup]))
    const settle = async ({ id, evidence, source }: Report): Promise<Verdict> => {
      const topup = records.get(id)
      if (!topup) throw new Error('a top-up is settled that was not opened')
      const settled = await settleTopup(tx, topup, evidence, source)
      records.set(id, settled.topup)
      return settled.verdict
    }
    return {
      sendAgainAt: async (id, due) => void (await tx.run(setDue, { id, due })),
      // One after another: top-ups are few, for a person answers each one on a phone.
      settle: async (reports) => {
        const verdicts: Verdict[] = []
        for (const report of reports) verdicts.push(await settle(report))
        return verdicts
      },
    }
  },
  prepare,
  // Each send is a prompt of its own.
  again: null,
}
