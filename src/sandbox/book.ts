import { randomBytes } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'

export type SandboxRail = 'MPESA_STK' | 'MPESA_B2C' | 'MPESA_B2B' | 'PESALINK'

/**
 * An order that the provider took. `key` is what it is asked by (CheckoutRequestID, OriginatorConversationID, reference),
 * `conversation` the provider's second id, `code` what its result will be.
 */
export type Order = {
  rail: SandboxRail
  key: string
  conversation: string
  amountMinor: bigint
  party: string
  code: string
  receipt: string
  resultUrl: string | null
  timeoutUrl: string | null
  state: 'under_way' | 'moved' | 'refused'
  at: Date
  timesAsked: number
}

/** Money that really moved, whatever was told about it. */
export type Movement = Pick<Order, 'rail' | 'key' | 'amountMinor' | 'party' | 'receipt' | 'resultUrl'> & { at: Date }

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** Random, not counted: a receipt must not come again after a restart, the service's database remembers the earlier ones. */
export const newReceipt = (): string => [...randomBytes(10)].map((byte) => alphabet[byte % alphabet.length]).join('')

/** The provider's own ledger: the truth that tests and queries are answered from. */
export const createBook = (clock: Clock) => {
  const orders: Order[] = []
  const movements: Movement[] = []
  return {
    open: (order: Omit<Order, 'state' | 'at' | 'receipt' | 'timesAsked'>): Order => {
      const opened: Order = { ...order, state: 'under_way', at: clock.now(), receipt: newReceipt(), timesAsked: 0 }
      orders.push(opened)
      return opened
    },
    /** Decides an order once; deciding again changes nothing. */
    settle: (order: Order): void => {
      if (order.state !== 'under_way') return
      order.state = order.code === '0' ? 'moved' : 'refused'
      if (order.state !== 'moved') return
      const { rail, key, amountMinor, party, receipt, resultUrl } = order
      movements.push({ rail, key, amountMinor, party, receipt, resultUrl, at: clock.now() })
    },
    find: (rails: readonly SandboxRail[], id: string): Order | undefined =>
      orders.find((order) => rails.includes(order.rail) && [order.key, order.conversation, order.receipt].includes(id)),
    orders: (): readonly Readonly<Order>[] => orders,
    movements: (): readonly Movement[] => movements,
  }
}

export type Book = ReturnType<typeof createBook>
