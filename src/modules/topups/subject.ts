import { statement } from '../../db/client.ts'
import { lockBalance } from '../../ledger/ledger.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { tryOpen } from '../payments/lifecycle/attempts/callback-secret.ts'
import { type AttemptSubject, notSent } from '../payments/lifecycle/attempts/subject.ts'
import { settleTopup } from './outcome.ts'
import { getTopup } from './queries.ts'
import { phoneContext } from './service.ts'

const setDue = statement('topups.set_due', 'update topups set dispatch_due_at = $2 where id = $1')

/** How a top-up is sent: the payer is asked on the phone. One that has expired meanwhile is not, nobody waits for it any more. */
export const topupSubject: AttemptSubject = {
  setDue: async (tx, id, at) => void (await tx.query(setDue, [id, at])),
  lock: async (tx, id) => void (await lockBalance(tx, (await getTopup(tx, id)).accountId)),
  prepare: async (tx, deps, id) => {
    const topup = await getTopup(tx, id)
    const expired = tx.at >= secondsAfter(topup.createdAt, deps.config.TOPUP_TTL_SECONDS)
    if (topup.status !== 'pending' || expired) return null
    const { amountMinor, currency, phoneCiphertext, phoneKeyId } = topup
    return {
      rail: topup.method,
      amountMinor,
      send: async (sending) => {
        const rail = deps.rails.collection
        if (!rail) return notSent('provider_not_configured')
        const phoneNumber = tryOpen(deps, { ciphertext: phoneCiphertext, keyId: phoneKeyId }, phoneContext(topup))
        if (phoneNumber === undefined) return notSent('destination_unreadable')
        return rail.collect({ ...sending, amountMinor, currency, phoneNumber })
      },
    }
  },
  settle: settleTopup,
}
