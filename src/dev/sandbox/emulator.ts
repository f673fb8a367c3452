import type { Clock } from '../../lib/clock.ts'
import {
  type DepositOf,
  type DepositRail,
  type Provider,
  providers,
  type RailOf,
  type SendingRail,
} from '../../lib/rail-names.ts'
import { createBook, type Movement, type Order } from './book.ts'
import { createAddresses, createDeliver } from './deliver.ts'
import type { Serve } from './gateway.ts'
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
  /** Folder for money, receipts and credentials. Without a folder they are lost when the process ends. */
  folder?: string
}

type Settled = { amountMinor: bigint; receipt: string }
export type Render = (order: Order, settled: Settled) => unknown
type Deposited = Pick<Order, 'key' | 'reference' | 'account' | 'party' | 'payer' | 'at'>
export type RenderDeposit = (deposit: Deposited, settled: Settled) => unknown

/** Formats of each rail's outcomes and of deposit notifications, and the organisation's accounts for deposits. */
type ProviderFormats = {
  /** `timeout`: the callback to the timeout URL, if the rail has one. */
  renderings: Readonly<Record<SendingRail, { result: Render; timeout?: (order: Order) => unknown }>>
  notifications: Readonly<Record<DepositRail, RenderDeposit>>
  accounts: Readonly<Record<DepositRail, string>>
}

export const createEmulation = ({ clock, folder, scheduler, delayMs }: EmulationDeps, forms: ProviderFormats) => {
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
    deliver: createDeliver(journal),
    /** Reports that are sent after the next order's report. */
    deferred: [] as (() => Promise<void>)[],
    tokens: Object.fromEntries(providers.map((name) => [name, createTokens(clock)])) as Record<Provider, Tokens>,
    addresses: createAddresses(folder),
    names: createNames(rules, folder),
  }
}

export type Emulation = ReturnType<typeof createEmulation>

/** Format of a provider's statement, with a heading if it covers one account. `lines`: a movement and its charge. */
type Statement = {
  heading: (account: string, period: string) => string[][]
  columns: readonly string[]
  lines: (moved: Movement) => string[][]
}

export type ProviderEmulator<P extends Provider> = {
  renderings: Pick<ProviderFormats['renderings'], SendingRail & RailOf<P>>
  notifications: Pick<ProviderFormats['notifications'], DepositOf<P>>
  statement: Statement
  create: (secretOf: SecretOf) => {
    /** A client's options, without the base URL. */
    options: object
    accounts: Pick<ProviderFormats['accounts'], DepositOf<P>>
    register: (emulation: Emulation, serve: Serve) => void
  }
}
