import { type FastifyInstance, fastify } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import type { DarajaOptions } from '../rails/daraja/options.ts'
import type { PesalinkOptions } from '../rails/pesalink/options.ts'
import { type Fault, gatewayError } from './answer.ts'
import { createBook, type Movement, type Order } from './book.ts'
import { createCredentials } from './credentials.ts'
import { registerDaraja } from './daraja-routes.ts'
import { createDeliver, type SandboxLogger } from './deliver.ts'
import { createFaults } from './faults.ts'
import { registerPesalink } from './pesalink-routes.ts'
import type { Provider } from './provider.ts'
import type { Scheduler } from './scheduler.ts'
import { createTokens } from './tokens.ts'

export type RailSandboxDeps = { scheduler: Scheduler; clock: Clock; delayMs: number; logger?: SandboxLogger }

export type RailSandbox = {
  app: FastifyInstance
  /** Listens on loopback (port 0: any free one) and returns the base URL for the options below. */
  listen: (port?: number) => Promise<string>
  close: () => Promise<void>
  darajaOptions: (baseUrl: string) => DarajaOptions
  pesalinkOptions: (baseUrl: string) => PesalinkOptions
  /** All money that really moved, however it was told: what "paid exactly once" is checked against. */
  movements: () => readonly Movement[]
  /** All orders that were taken: for STK, the prompts that a phone has shown. */
  orders: () => readonly Readonly<Order>[]
  /** The next authorized request meets this fault. */
  failNext: (fault: Fault) => void
  revokeTokens: () => void
  tokensIssued: () => { daraja: number; pesalink: number }
}

/** The providers, played: a real HTTP server that checks what they check and moves money in a ledger of its own. */
export const createRailSandbox = (deps: RailSandboxDeps): RailSandbox => {
  const provider: Provider = {
    book: createBook(deps.clock),
    scheduler: deps.scheduler,
    deliver: createDeliver(deps.logger),
    delayMs: deps.delayMs,
    clock: deps.clock,
    credentials: createCredentials(),
    darajaTokens: createTokens(deps.clock),
    pesalinkTokens: createTokens(deps.clock),
  }
  const faults = createFaults()
  const app = fastify({ logger: false, forceCloseConnections: true })
  registerDaraja(app, provider, faults.respond)
  registerPesalink(app, provider, faults.respond)
  app.setErrorHandler((error, _request, reply) => {
    // Only what the client did wrong is a clear refusal; a fault of the sandbox's own must not look like one.
    const isClients = error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500
    const answer = isClients ? gatewayError(400, '400.002.05', 'Invalid Request Payload') : { status: 500, body: {} }
    return reply.code(answer.status).send(answer.body)
  })

  return {
    app,
    listen: (port = 0) => app.listen({ host: '127.0.0.1', port }),
    close: async () => {
      deps.scheduler.close()
      await app.close()
    },
    darajaOptions: (baseUrl) => ({ ...provider.credentials.daraja, baseUrl }),
    pesalinkOptions: (baseUrl) => ({ ...provider.credentials.pesalink, baseUrl }),
    movements: provider.book.movements,
    orders: provider.book.orders,
    failNext: faults.failNext,
    revokeTokens: () => {
      provider.darajaTokens.revokeAll()
      provider.pesalinkTokens.revokeAll()
    },
    tokensIssued: () => ({ daraja: provider.darajaTokens.issued(), pesalink: provider.pesalinkTokens.issued() }),
  }
}
