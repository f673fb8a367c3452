import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { afterAll } from 'vitest'
import { createService, type Service } from '../../src/app.ts'
import { type SandboxOptions, sandboxRails } from '../../src/app-rails.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import type { Pooler } from '../../src/db/pooler.ts'
import { createRailSandbox, type RailSandbox } from '../../src/dev/sandbox/rail-sandbox.ts'
import { undeclaredRefusal } from '../../src/http/errors.ts'
import { logOptions } from '../../src/process/logger.ts'
import type { SendLogFile } from '../../src/process/send-log.ts'
import { type Client, createClient } from './client.ts'
import { createTestClock, type TestClock } from './clock.ts'
import { createManualScheduler, type ManualScheduler } from './manual-scheduler.ts'
import { freePort } from './ports.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { settledEvents } from './settled-events.ts'
import { untraced } from './trace-guard.ts'

export type TestService = Service & {
  api: Client
  /** The private listener. */
  operatorUrl: string
  clock: TestClock
  sandbox: RailSandbox
  sandboxUrl: string
  /** The provider's time, for deliveries that are late on purpose. */
  scheduler: ManualScheduler
  database: TestDatabase
  /** Every logged line, unchanged. */
  log: string[]
  /** Runs jobs and lets the provider deliver, in turn, until nothing is left. */
  settle: () => Promise<void>
  close: () => Promise<void>
}

const keys = () => `test:${randomBytes(32).toString('base64')}`
const sharedKeys = { ENCRYPTION_KEYS: keys(), TOKEN_SECRETS: keys(), ORDER_KEY: keys(), RECEIPT_KEYS: keys(), VAPID_KEYS: keys() }

export type TestOptions = {
  env?: Record<string, string>
  /** Settings that no variable changes. */
  fixed?: Partial<Config>
  railTimeoutMs?: number
  /** A second process on the same database. It shares nothing else. */
  database?: TestDatabase
  /** A pooler in front of the database. */
  through?: { url: string; pooler?: Pooler }
  clock?: TestClock
  /** The provider of that service instead of its own, for a process that takes over. */
  provider?: TestService
  /** The memory of an earlier life of the process, and the log of this one's recovery point and sends. */
  sendLog?: SendLogFile
}

const startProvider = async (clock: TestClock, home: string) => {
  const scheduler: ManualScheduler = createManualScheduler()
  const sandbox = createRailSandbox({ scheduler, clock, delayMs: 0, home })
  return { scheduler, sandbox, sandboxUrl: await sandbox.listen() }
}

/** The emulator's own timeout is short. A test whose calls hang for longer sets it. */
const withTimeout = (sandbox: RailSandbox, ms: number | undefined): SandboxOptions =>
  ms === undefined
    ? sandbox
    : {
        options: (url) => {
          const options = sandbox.options(url)
          return { ...options, MPESA: { ...options.MPESA, timeoutMs: ms } }
        },
      }

/** The whole service on a database of its own, with the provider's emulator beside it, on a clock that the test moves. */
export const startService = async (options: TestOptions = {}): Promise<TestService> => {
  const database = options.database ?? (await createTestDatabase())
  const clock = options.clock ?? createTestClock()
  const port = await freePort()
  const provider = options.provider ?? (await startProvider(clock, `http://localhost:${port}`))
  const { scheduler, sandbox, sandboxUrl } = provider
  const operatorPort = await freePort()
  const settings = loadConfig({
    NODE_ENV: 'test',
    PORT: String(port),
    OPERATOR_PORT: String(operatorPort),
    JOBS: 'off',
    LOG_LEVEL: 'info',
    DATABASE_POOL_SIZE: '8',
    ...sharedKeys,
    ...options.env,
  })
  // Tests send many requests at once on slow machines, and most test neither load shedding nor late answers.
  const patient = { SHED_LOAD: false, DATABASE_STATEMENT_TIMEOUT_MS: 60_000, REQUEST_TIMEOUT_MS: 60_000 }
  const config = { ...settings, ...patient, ...options.fixed }
  const log: string[] = []
  const logger = pino({ level: config.LOG_LEVEL, ...logOptions }, { write: (line: string) => void log.push(line) })
  const service = await createService({
    config,
    databaseUrl: options.through?.url ?? database.url,
    directUrl: database.url,
    ...(options.through?.pooler && { pooler: options.through.pooler }),
    clock,
    logger,
    ...(options.sendLog && { sendLog: options.sendLog }),
    rails: sandboxRails(config, clock, withTimeout(sandbox, options.railTimeoutMs), sandboxUrl),
  })
  await service.start()
  await service.http.listen({ host: '127.0.0.1', port })
  await service.operator.listen({ host: '127.0.0.1', port: config.OPERATOR_PORT })
  return {
    ...service,
    api: createClient(`http://localhost:${port}`, {}, (path) =>
      path.startsWith('/v1/notifications') ? settledEvents(service) : undefined,
    ),
    operatorUrl: config.operatorUrl,
    clock,
    sandbox,
    sandboxUrl,
    scheduler,
    database,
    log,
    settle: async () => {
      for (let busy = true; busy; ) {
        busy = (await service.deps.jobs.drain()) > 0 || scheduler.pending() > 0
        await scheduler.runAll()
      }
      await service.deps.feed.settle()
      await settledEvents(service)
    },
    close: async () => {
      await service.stop()
      const undeclared = log.filter((line) => line.includes(undeclaredRefusal))
      if (undeclared.length > 0)
        throw new Error(`add codes to the routes' \`refuses\`, details to lib/error-details.ts: ${undeclared.join('')}`)
      const traceless = log.filter((line) => line.includes(untraced))
      if (traceless.length > 0) throw new Error(`a write left neither an event nor an audit row: ${traceless.join('')}`)
      if (!options.provider) await sandbox.close()
      if (!options.database) await database.drop()
    },
  }
}

/** A test file's service. It closes after the file's last test, and after everything that was opened later. */
export const openService = async (options: TestOptions = {}): Promise<TestService> => {
  const service = await startService(options)
  afterAll(() => service.close())
  return service
}
