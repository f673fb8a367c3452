import { type FastifyInstance, fastify } from 'fastify'
import type { Clock } from '../../lib/clock.ts'
import { type Provider as ProviderName, providers } from '../../lib/rail-names.ts'
import { type Fault, gatewayError } from './answer.ts'
import { createBook, type Movement, type Order } from './book.ts'
import { type ControlOptions, registerControl } from './control.ts'
import { createAddresses, createDeliver, type SandboxLogger } from './deliver.ts'
import { type ClientOptions, depositForms, playProviders, renderings } from './emulated.ts'
import type { Emulation } from './emulator.ts'
import { createFaults } from './faults.ts'
import { createJournal, type Journal } from './journal.ts'
import { createNames, type Names } from './names.ts'
import { perform } from './perform.ts'
import { createRules, type Rules } from './rules.ts'
import type { Scheduler } from './scheduler.ts'
import { fileStore, memoryStore } from './store.ts'
import { createTokens, type Tokens } from './tokens.ts'

export type RailSandboxDeps = {
  scheduler: Scheduler
  clock: Clock
  delayMs: number
  logger?: SandboxLogger
  /** The folder for money, receipts and credentials. Without one they end with the process. */
  folder?: string
} & ControlOptions

type SandboxOptions = { [P in ProviderName]: ClientOptions[P] & { baseUrl: string } }

export type RailSandbox = {
  app: FastifyInstance
  /** Listens on loopback (port 0: any free one) and returns the base URL for the options below. */
  listen: (port?: number) => Promise<string>
  /** Continues what an earlier process left unfinished. Call it when the service can receive deliveries. */
  resume: () => void
  close: () => Promise<void>
  /** What a client of each provider needs. */
  options: (baseUrl: string) => SandboxOptions
  /** All money that really moved, whatever was reported: "paid exactly once" is checked against it. */
  movements: () => readonly Movement[]
  /** All accepted orders: for STK, the prompts that a phone has shown. */
  orders: () => readonly Readonly<Order>[]
  /** The next authorized request gets this fault. */
  failNext: (fault: Fault) => void
  rules: Rules
  names: Names
  journal: Journal
  tokens: Emulation['tokens']
}

const createEmulation = (deps: RailSandboxDeps, accounts: Emulation['accounts']): Emulation => {
  const { clock, folder } = deps
  const journal = createJournal(clock)
  return {
    book: createBook(clock, folder === undefined ? memoryStore() : fileStore(folder, 'orders.jsonl')),
    scheduler: deps.scheduler,
    deliver: createDeliver(deps.logger, journal),
    delayMs: deps.delayMs,
    renderings,
    deposits: depositForms,
    heldBack: [],
    clock,
    accounts,
    tokens: Object.fromEntries(providers.map((name) => [name, createTokens(clock)])) as Record<ProviderName, Tokens>,
    rules: createRules(),
    addresses: createAddresses(folder),
    names: createNames(folder),
    journal,
  }
}

/** The providers, simulated: a real HTTP server that makes their checks and moves money in its own ledger. */
export const createRailSandbox = (deps: RailSandboxDeps): RailSandbox => {
  const { options, accounts, register } = playProviders(deps.folder)
  const emulation = createEmulation(deps, accounts)
  const { book, rules, journal } = emulation
  const faults = createFaults(rules, journal)
  const app = fastify({ logger: false, forceCloseConnections: true })
  app.addHook('onRequest', async (request, reply) => {
    if (rules.isDown() && !request.url.startsWith('/control')) {
      reply.hijack()
      reply.raw.socket?.resetAndDestroy()
    }
  })
  register(app, emulation, faults.respond)
  registerControl(app, emulation, options, deps)
  app.setErrorHandler((error, _request, reply) => {
    // Only a client's error is a clear refusal; a defect of the sandbox must not look like one.
    const isClients = error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500
    const answer = isClients ? gatewayError(400, '400.002.05', 'Invalid Request Payload') : { status: 500, body: {} }
    return reply.code(answer.status).send(answer.body)
  })

  return {
    app,
    listen: (port = 0) => app.listen({ host: '127.0.0.1', port }),
    resume: () => {
      for (const order of book.unfinished()) perform(emulation, order)
    },
    close: async () => {
      deps.scheduler.close()
      await app.close()
    },
    options: (baseUrl) => Object.fromEntries(providers.map((name) => [name, { ...options[name], baseUrl }])) as SandboxOptions,
    movements: book.movements,
    orders: book.orders,
    failNext: faults.failNext,
    rules,
    names: emulation.names,
    journal,
    tokens: emulation.tokens,
  }
}
