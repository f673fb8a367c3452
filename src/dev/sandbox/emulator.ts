import type { Clock } from '../../lib/clock.ts'
import {
  type DepositOf,
  type DepositRail,
  type Provider,
  providers,
  type RailOf,
  type SendingRail,
} from '../../lib/rail-names.ts'
import type { Serve } from './answer.ts'
import { createBook, type Movement, type Order } from './book.ts'
import { createAddresses, createDeliver, type SandboxLogger } from './deliver.ts'
import { createJournal } from './journal.ts'
import { createNames } from './names.ts'
import { createRules } from './rules.ts'
import type { Scheduler } from './scheduler.ts'
import type { SecretOf } from './secrets.ts'
import { fileStore, memoryStore } from './store.ts'
import { createTokens, type Tokens } from './tokens.ts'

export type EmulationDeps = {
  scheduler: Scheduler
  clock: Clock
  delayMs: number
  logger?: SandboxLogger
  /** The folder for money, receipts and credentials. Without one they end with the process. */
  folder?: string
}

type Settled = { amountMinor: bigint; receipt: string }
export type Render = (order: Order, settled: Settled) => unknown
type Deposited = Pick<Order, 'key' | 'reference' | 'account' | 'party' | 'payer' | 'at'>
export type RenderDeposit = (deposit: Deposited, settled: Settled) => unknown

/** The form of each sending rail's outcomes and of deposit notifications, and the organisation's account for deposits. */
type Forms = {
  /** `timeout`: the delivery to the timeout URL, if the rail has one. */
  renderings: Readonly<Record<SendingRail, { result: Render; timeout?: (order: Order) => unknown }>>
  notifications: Readonly<Record<DepositRail, RenderDeposit>>
  accounts: Readonly<Record<DepositRail, string>>
}

export const createEmulation = ({ clock, folder, logger, scheduler, delayMs }: EmulationDeps, forms: Forms) => {
  const journal = createJournal(clock)
  const rules = createRules()
  return {
    ...forms,
    clock,
    scheduler,
    delayMs,
    journal,
    rules,
    book: createBook(clock, folder === undefined ? memoryStore() : fileStore(folder, 'orders.jsonl')),
    deliver: createDeliver(logger, journal),
    /** Reports that wait until after the next order's report. */
    deferred: [] as (() => Promise<void>)[],
    tokens: Object.fromEntries(providers.map((name) => [name, createTokens(clock)])) as Record<Provider, Tokens>,
    addresses: createAddresses(folder),
    names: createNames(rules, folder),
  }
}

export type Emulation = ReturnType<typeof createEmulation>

/** A statement of one of the organisation's accounts, with a heading, or of all without. `lines`: a movement with its charge. */
type Statement = {
  heading: (account: string, period: string) => string[][]
  columns: readonly string[]
  lines: (moved: Movement) => string[][]
}

export type Emulator<P extends Provider> = {
  renderings: Pick<Forms['renderings'], SendingRail & RailOf<P>>
  notifications: Pick<Forms['notifications'], DepositOf<P>>
  statement: Statement
  create: (secretOf: SecretOf) => {
    /** A client's options, without the address. */
    options: object
    accounts: Pick<Forms['accounts'], DepositOf<P>>
    register: (emulation: Emulation, serve: Serve) => void
  }
}
