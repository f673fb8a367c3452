import { type DepositRail, isDepositRail, type SendingRail, sendingRails } from '../../lib/rail-names.ts'
import type { Book, Order } from './book.ts'
import { newReceipt } from './book.ts'
import { type Deliver, forgedUrl } from './deliver.ts'
import type { Names } from './names.ts'
import type { Rules } from './rules.ts'
import { type Scenario, scenarioFor } from './scenario.ts'
import type { Scheduler } from './scheduler.ts'

type Taken = Pick<
  Order,
  'rail' | 'key' | 'conversation' | 'reference' | 'amountMinor' | 'party' | 'account' | 'resultUrl' | 'timeoutUrl'
> & {
  /** The name of a person who pays in. */
  payer?: string
  /** Overrides the destination's scenario. */
  scenario?: Scenario
}

/** Records an order and carries it out as its destination, or a matching rule, says. */
export const take = (emulation: Stage & { rules: Rules; names: Names }, { scenario: chosen, ...fields }: Taken): Order => {
  const byDestination = chosen ?? scenarioFor(fields.party)
  const reporting = emulation.rules.forOrder({ rail: fields.rail, party: fields.party })
  const scenario = reporting ? { ...byDestination, reporting } : byDestination
  const order = emulation.book.open({ ...fields, scenario, code: scenario.code, payee: emulation.names.of(fields.party) })
  perform(emulation, order)
  return order
}

/** The form of an order's outcome on its rail. */
export type Render = (order: Order, settled: { amountMinor: bigint; receipt: string }) => unknown
export type Rendering = { result: Render; timeout: (order: Order) => unknown }

const lateMs = 30_000

export type Stage = {
  book: Book
  scheduler: Scheduler
  deliver: Deliver
  delayMs: number
  renderings: Readonly<Record<SendingRail, Rendering>>
  deposits: Readonly<Record<DepositRail, Render>>
  /** Outcomes that are reported after the next order's. */
  heldBack: (() => Promise<void>)[]
}

const isSendingRail = (rail: string): boolean => sendingRails.some((each) => each === rail)
const opposite = (order: Order): Order => ({ ...order, code: order.code === '0' ? '1' : '0' })
const ofAnotherOrder = (order: Order): Order => ({ ...order, key: newReceipt(), conversation: newReceipt() })

const renderingOf = ({ renderings, deposits }: Stage, { rail, payer }: Order): Rendering =>
  isDepositRail(rail) && (payer !== null || !isSendingRail(rail))
    ? { result: deposits[rail], timeout: () => ({}) }
    : renderings[rail as SendingRail]

const report = async (stage: Stage, order: Order): Promise<void> => {
  const { result, timeout } = renderingOf(stage, order)
  const truth = { amountMinor: order.amountMinor, receipt: order.receipt }
  const send = async (about: Order = order, settled = truth) => {
    if (order.resultUrl !== null) await stage.deliver(order.resultUrl, result(about, settled))
  }
  switch (order.scenario.reporting) {
    case 'lost':
    case 'never':
      return
    case 'late':
      if (order.timeoutUrl !== null) await stage.deliver(order.timeoutUrl, timeout(order))
      stage.scheduler.after(lateMs, () => send())
      return
    case 'thrice':
      for (let time = 0; time < 3; time += 1) await send()
      return
    case 'other_amount':
      return send(order, { ...truth, amountMinor: order.amountMinor + 100n })
    case 'other_id':
      return send(ofAnotherOrder(order))
    case 'contradicted':
      await send()
      return send(opposite(order))
    case 'forged_first':
      if (order.resultUrl !== null) {
        await stage.deliver(forgedUrl(order.resultUrl), result(order, { ...truth, receipt: newReceipt() }))
      }
      return send()
    case 'after_the_next':
      stage.heldBack.push(send)
      return
    default:
      return send()
  }
}

/** After the delay the money moves (or not), and the outcome is reported as the rule says. Finishes what an earlier process began. */
export const perform = (stage: Stage, order: Order, delayMs = stage.delayMs): void => {
  if (order.scenario.reporting === 'never') return
  stage.scheduler.after(delayMs, async () => {
    stage.book.settle(order)
    stage.book.markReported(order)
    const before = order.scenario.reporting === 'after_the_next' ? [] : stage.heldBack.splice(0)
    await report(stage, order)
    for (const held of before) await held()
  })
}
