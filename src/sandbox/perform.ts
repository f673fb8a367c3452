import type { Book, Order } from './book.ts'
import { newReceipt } from './book.ts'
import { type Deliver, forgedUrl } from './deliver.ts'
import type { Play } from './play.ts'
import type { Scheduler } from './scheduler.ts'

/** How an order's outcome looks on its rail. */
export type Render = (order: Order, told: { amountMinor: bigint; receipt: string }) => unknown

const lateMs = 30_000

export type Stage = { book: Book; scheduler: Scheduler; deliver: Deliver; delayMs: number }

/** After the delay the money moves (or not), and the outcome is told as the play wants it. */
export const perform = (
  stage: Stage,
  order: Order,
  play: Play,
  render: Render,
  renderTimeout: (order: Order) => unknown,
): void => {
  if (play.telling === 'never') return
  const truth = { amountMinor: order.amountMinor, receipt: order.receipt }
  const tell = async (told = truth) => {
    if (order.resultUrl !== null) await stage.deliver(order.resultUrl, render(order, told))
  }

  stage.scheduler.after(stage.delayMs, async () => {
    stage.book.settle(order)
    switch (play.telling) {
      case 'lost':
        return
      case 'late':
        if (order.timeoutUrl !== null) await stage.deliver(order.timeoutUrl, renderTimeout(order))
        stage.scheduler.after(lateMs, () => tell())
        return
      case 'thrice':
        for (let time = 0; time < 3; time += 1) await tell()
        return
      case 'other_amount':
        await tell({ ...truth, amountMinor: order.amountMinor + 100n })
        return
      case 'forged_first':
        if (order.resultUrl !== null) {
          await stage.deliver(forgedUrl(order.resultUrl), render(order, { ...truth, receipt: newReceipt() }))
        }
        await tell()
        return
      default:
        await tell()
    }
  })
}
