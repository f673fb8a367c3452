import { fastify } from 'fastify'
import { type Provider, providers } from '../../lib/rail-names.ts'
import { merged } from '../../rails/definition.ts'
import { type ControlOptions, registerControl } from './control.ts'
import { createEmulation, type EmulationDeps } from './emulator.ts'
import { emulators } from './emulators.ts'
import { createGateways, gatewayError, resetConnection } from './gateway.ts'
import { executeOrder } from './perform.ts'
import { keepSecrets } from './secrets.ts'

type SandboxOptions = { [P in Provider]: ReturnType<(typeof emulators)[P]['create']>['options'] & { baseUrl: string } }

/** Simulates the providers with a real HTTP server, which validates requests and moves money in its own ledger. */
export const createRailSandbox = (deps: EmulationDeps & ControlOptions) => {
  const secretOf = keepSecrets(deps.folder)
  const all = Object.values(emulators)
  const sandboxProviders = providers.map((provider) => ({ provider, ...emulators[provider].create(secretOf) }))
  const emulation = createEmulation(deps, {
    renderings: merged(all.map(({ renderings }) => renderings)),
    notifications: merged(all.map(({ notifications }) => notifications)),
    accounts: merged(sandboxProviders.map(({ accounts }) => accounts)),
  })
  const { book, rules, names, journal, tokens } = emulation
  const app = fastify({ logger: false, forceCloseConnections: true })
  app.addHook('onRequest', async (request, reply) => {
    if (rules.isDown() && !request.url.startsWith('/control')) resetConnection(reply)
  })
  const { failNext, serve } = createGateways(app, rules, journal)
  for (const { register } of sandboxProviders) register(emulation, serve)
  registerControl(app, emulation, Object.fromEntries(sandboxProviders.map(({ provider, options }) => [provider, options])), deps)
  app.setErrorHandler((error, _request, reply) => {
    // Only a client's error gets a clear rejection. A bug in the sandbox must not look like one.
    const isClients = error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500
    const answer = isClients ? gatewayError(400, '400.002.05', 'Invalid Request Payload') : { status: 500, body: {} }
    return reply.code(answer.status).send(answer.body)
  })

  return {
    app,
    /** Listens on loopback (port 0: any free port) and returns the base URL for `options`. */
    listen: (port = 0) => app.listen({ host: '127.0.0.1', port }),
    /** Resumes an earlier process's unfinished orders. Call this once the service can receive callbacks. */
    resume: () => {
      for (const order of book.unfinished()) executeOrder(emulation, order)
    },
    close: async () => {
      deps.scheduler.close()
      await app.close()
    },
    /** Options of a client for each provider. */
    options: (baseUrl: string) =>
      Object.fromEntries(sandboxProviders.map(({ provider, options }) => [provider, { ...options, baseUrl }])) as SandboxOptions,
    /** All money that moved, regardless of what was reported: the evidence for "paid exactly once". */
    movements: book.movements,
    /** All accepted orders, which for STK are the prompts shown on a phone. */
    orders: book.orders,
    /** Applies this fault to the next authorized request. */
    failNext,
    rules,
    names,
    journal,
    tokens,
  }
}

export type RailSandbox = ReturnType<typeof createRailSandbox>
