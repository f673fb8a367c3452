import { isDepositRail, type SendingRail } from '../../lib/rail-names.ts'
import { type NewOrder, newReceipt, type Order } from './book.ts'
import { forgedUrl } from './deliver.ts'
import type { Emulation } from './emulator.ts'
import { scenario, scenarioFor } from './scenario.ts'

/** Records an order and executes it as its destination or a matching rule determines. `code`: overrides the result. */
export const acceptOrder = (
  emulation: Emulation,
  { code, ...fields }: Omit<NewOrder, 'scenario' | 'code' | 'payee'> & { code?: string },
): Order => {
  const usual = code === undefined ? scenarioFor(fields.party) : scenario('once', { code })
  const rule = emulation.rules.takeMatching('report', fields)
  const chosen = rule ? { ...usual, reporting: rule.effect } : usual
  const order = emulation.book.open({ ...fields, scenario: chosen, code: chosen.code, payee: emulation.names.of(fields.party) })
  executeOrder(emulation, order)
  return order
}

const lateMs = 30_000

const report = async ({ renderings, notifications, deliver, scheduler, deferred }: Emulation, order: Order): Promise<void> => {
  const { rail, payer, resultUrl, timeoutUrl } = order
  const { result, timeout } =
    payer !== null && isDepositRail(rail) ? { result: notifications[rail] } : renderings[rail as SendingRail]
  const truth = { amountMinor: order.amountMinor, receipt: order.receipt }
  const send = async (about: Order = order, settled = truth, to = resultUrl) => {
    if (to !== null) await deliver(to, result(about, settled))
  }
  switch (order.scenario.reporting) {
    case 'lose_callback':
    case 'never_end':
      return
    case 'late':
      if (timeoutUrl !== null) await deliver(timeoutUrl, timeout?.(order))
      scheduler.after(lateMs, () => send())
      return
    case 'duplicate':
      for (let time = 0; time < 3; time += 1) await send()
      return
    case 'wrong_amount':
      return send(order, { ...truth, amountMinor: order.amountMinor + 100n })
    case 'wrong_id':
      return send({ ...order, key: newReceipt(), conversation: newReceipt() })
    case 'contradict':
      await send()
      return send({ ...order, code: order.code === '0' ? '1' : '0' })
    case 'forge':
      await send(order, { ...truth, receipt: newReceipt() }, resultUrl && forgedUrl(resultUrl))
      return send()
    case 'reorder':
      deferred.push(send)
      return
    default:
      return send()
  }
}

/** After the delay, moves the money (or not) and reports the outcome. Also resumes orders of an earlier process. */
export const executeOrder = (emulation: Emulation, order: Order): void => {
  const { scheduler, book, deferred, delayMs } = emulation
  if (order.scenario.reporting === 'never_end') return
  scheduler.after(delayMs, async () => {
    book.settle(order)
    const before = order.scenario.reporting === 'reorder' ? [] : deferred.splice(0)
    await report(emulation, order)
    book.markReported(order)
    for (const held of before) await held()
  })
}
