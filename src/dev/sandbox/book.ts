import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { type AnyRail, collectionRail, type Provider, providerOf } from '../../lib/rail-names.ts'
import type { Scenario } from './scenario.ts'
import type { Store } from './store.ts'

/**
 * An order that the provider has accepted. `key`: the id for queries (CheckoutRequestID, OriginatorConversationID, reference).
 * `conversation`: the provider's own id. `reference`: the caller's text from the free fields. `code`: the result code.
 * `reported`: whether the outcome was delivered, or deliberately lost.
 */
export type Order = {
  rail: AnyRail
  key: string
  conversation: string
  reference: string
  amountMinor: bigint
  party: string
  /** The caller's account from which or to which the order moves money. */
  account: string
  code: string
  scenario: Scenario
  receipt: string
  resultUrl: string | null
  timeoutUrl: string | null
  state: 'under_way' | 'moved' | 'refused'
  reported: boolean
  at: Date
  movedAt: Date | null
  queryCount: number
  /** The payer of a deposit, as the provider identifies them. Null for a client's order. */
  payer: string | null
  /** The holder of the destination, as reported with the outcome. Null if unknown. */
  payee: string | null
}

export type NewOrder = Omit<Order, 'payer' | 'payee' | 'receipt' | 'state' | 'reported' | 'at' | 'movedAt' | 'queryCount'> &
  Partial<Pick<Order, 'payer' | 'payee'>>

/** Money that moved, regardless of what was reported. `at`: when it moved. */
export type Movement = Readonly<Order>

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** Random, because receipts must not repeat after a restart: the service's database still has the earlier ones. */
export const newReceipt = (): string => [...randomBytes(10)].map((byte) => alphabet[byte % alphabet.length]).join('')

type StoredLine =
  | { kind: 'order'; order: Omit<Order, 'amountMinor' | 'at' | 'movedAt'> & { amountMinor: string; at: string } }
  | { kind: 'settled'; receipt: string; state: Order['state']; at: string }
  | { kind: 'reported'; receipt: string }
  | { kind: 'charges_settled'; account: string; amountMinor: string }

/** The provider's own ledger. Changes are stored before they take effect, so money and receipts survive a killed process. */
export const createBook = (clock: Clock, store: Store) => {
  const orders: Order[] = []
  const byReceipt = new Map<string, Order>()
  const ordersById = new Map<string, Order[]>()
  const settledCharges = new Map<string, bigint>()

  const add = (order: Order): void => {
    orders.push(order)
    byReceipt.set(order.receipt, order)
    for (const id of new Set([order.key, order.conversation, order.receipt]))
      ordersById.set(id, [...(ordersById.get(id) ?? []), order])
  }
  const settleAt = (order: Order, state: Order['state'], at: Date): void => {
    order.state = state
    if (state === 'moved') order.movedAt = at
  }
  const addSettledCharges = (account: string, amountMinor: bigint): void => {
    settledCharges.set(account, (settledCharges.get(account) ?? 0n) + amountMinor)
  }
  const replay = (line: StoredLine): void => {
    if (line.kind === 'charges_settled') {
      addSettledCharges(line.account, BigInt(line.amountMinor))
      return
    }
    if (line.kind === 'order') {
      const { order } = line
      const read = { amountMinor: BigInt(order.amountMinor), at: new Date(order.at), movedAt: null }
      add({ ...order, ...read, payer: order.payer ?? null, payee: order.payee ?? null })
      return
    }
    const order = byReceipt.get(line.receipt)
    if (!order) return
    if (line.kind === 'settled') settleAt(order, line.state, new Date(line.at))
    else order.reported = true
  }
  for (const line of store.read()) replay(line as StoredLine)

  return {
    open: (fields: NewOrder): Order => {
      const opened: Order = {
        payer: null,
        payee: null,
        ...fields,
        state: 'under_way',
        reported: false,
        at: clock.now(),
        movedAt: null,
        receipt: newReceipt(),
        queryCount: 0,
      }
      store.append({ kind: 'order', order: { ...opened, amountMinor: opened.amountMinor.toString() } })
      add(opened)
      return opened
    },
    settle: (order: Order): void => {
      if (order.state !== 'under_way') return
      const state = order.code === '0' ? 'moved' : 'refused'
      const at = clock.now()
      store.append({ kind: 'settled', receipt: order.receipt, state, at })
      settleAt(order, state, at)
    },
    markReported: (order: Order): void => {
      if (order.reported) return
      order.reported = true
      store.append({ kind: 'reported', receipt: order.receipt })
    },
    /** Deducts accumulated charges from an account's balance. */
    settleCharges: (account: string, amountMinor: bigint): void => {
      store.append({ kind: 'charges_settled', account, amountMinor: amountMinor.toString() })
      addSettledCharges(account, amountMinor)
    },
    settledMinor: (account: string): bigint => settledCharges.get(account) ?? 0n,
    find: (rails: readonly AnyRail[], id: string): Order | undefined =>
      ordersById.get(id)?.find((order) => rails.includes(order.rail)),
    orders: (): readonly Readonly<Order>[] => orders,
    unfinished: (): Order[] => orders.filter((order) => order.state === 'under_way' || !order.reported),
    movements: (): readonly Movement[] =>
      orders
        .flatMap((order) => (order.movedAt === null ? [] : [{ ...order, at: order.movedAt }]))
        .sort((a, b) => a.at.getTime() - b.at.getTime()),
  }
}

export type Book = ReturnType<typeof createBook>

export const isIncoming = ({ rail, payer }: Pick<Order, 'rail' | 'payer'>): boolean => payer !== null || rail === collectionRail

const openingMinor = 100_000_000_00n

/** The opening balance plus incoming and minus outgoing money, of one of the organisation's accounts or of all of them. */
export const workingBalance = ({ movements }: Book, provider: Provider, account?: string): bigint =>
  movements()
    .filter((moved) => providerOf(moved.rail) === provider && (account === undefined || moved.account === account))
    .reduce((sum, moved) => (isIncoming(moved) ? sum + moved.amountMinor : sum - moved.amountMinor), openingMinor)
