import type { OrderNames } from '../../../../../auth/order-names.ts'
import type { Config } from '../../../../../config.ts'
import type { Tx } from '../../../../../db/client.ts'
import { secondsAfter } from '../../../../../lib/clock.ts'
import type { Deps } from '../../../deps.ts'
import { callbackUrls } from '../for-rail.ts'
import { type AttemptRecord, insertAttempts, type NewAttempt } from '../queries.ts'
import { claimWithinSeconds } from '../schedule.ts'
import type { Order, Outgoing } from '../subject.ts'

/** An attempt that is recorded and not yet sent. */
export type Recorded = { outgoing: Outgoing; order: Order }

const newAttempt = (
  orderNames: OrderNames,
  { subjectId, accountId, amountMinor, seed, earlier }: Outgoing,
  skipped: number,
): NewAttempt => {
  const generation = earlier.generation + skipped
  const order = orderNames.orderOf(seed, generation)
  const send = earlier.sends + 1
  return { id: orderNames.attemptOf(order, send), subjectId, accountId, amountMinor, ...order, generation, send }
}

type Lane = Pick<AttemptRecord, 'kind' | 'rail'>

const mostGenerations = 5

/** Records one attempt for each, in one statement, and repeats it for those whose names belong to another payment, with the next names. */
export const recordAttempts = async (
  tx: Tx,
  deps: Pick<Deps, 'config' | 'orderNames'>,
  lane: Lane,
  outgoing: readonly Outgoing[],
): Promise<Recorded[]> => {
  const { at } = tx
  const recorded: Recorded[] = []
  let open = outgoing
  for (let skipped = 0; open.length > 0; skipped += 1) {
    if (skipped === mostGenerations) throw new Error('no free name was found for an order')
    const attempts = new Map(open.map((each) => [each.subjectId, newAttempt(deps.orderNames, each, skipped)]))
    const common = { ...lane, createdAt: at, nextCheckAt: secondsAfter(at, claimWithinSeconds) }
    const inserted = await insertAttempts(tx, common, [...attempts.values()])
    const left: Outgoing[] = []
    for (const each of open) {
      const attempt = attempts.get(each.subjectId)
      if (attempt && inserted.has(attempt.id))
        recorded.push({ outgoing: each, order: orderOf(deps.config, deps.orderNames, attempt, at) })
      else left.push(each)
    }
    open = left
  }
  return recorded
}

const orderOf = (config: Config, orderNames: OrderNames, { id, orderId, reference }: NewAttempt, at: Date): Order => ({
  attemptId: id,
  orderId,
  reference,
  at,
  callbacks: callbackUrls(orderNames, config.operatorUrl, id),
})
