import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { loadConfig } from './config.ts'
import { describeError } from './db/errors.ts'
import { checkInstallation } from './db/installation.ts'
import { findKeys, type Keys } from './dev/development-keys.ts'
import { createMovableClock } from './lib/clock.ts'
import { StartupError } from './lib/errors.ts'
import { localUrl } from './lib/loopback.ts'
import { openDatabase, type RunningDatabase } from './process/database.ts'
import { readEnvironment } from './process/environment.ts'
import { createLogger } from './process/logger.ts'
import { listen, loadConfigWithPorts, operatorListener, publicListener } from './process/ports.ts'
import { endWithFirst, isWorker, reportReady, startOptions, startWorkers } from './process/processes.ts'
import { openRails, type RunningRails } from './process/rails.ts'
import { prepareReadyFile, writeReadyFile } from './process/ready-file.ts'
import { openSendLog } from './process/send-log.ts'
import { handleSignals } from './process/signals.ts'
import { summarize } from './process/summary.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)
// The process that reads our output may exit first (`npm start | head`).
process.stdout.on('error', () => undefined)

const signals = handleSignals(isWorker ? () => undefined : say)
const cleanups = new AsyncDisposableStack()

/** Built before the service. A worker receives these parts from the first process through environment variables. */
type Prepared = { config: Config; logger: Logger; database: RunningDatabase; keys: Keys; rails: RunningRails }

const clock = createMovableClock()

const prepare = async (readyFile: string | undefined): Promise<Prepared> => {
  const variables = readEnvironment()
  // The first process has already opened the ports of a worker.
  const config = isWorker ? loadConfig(variables) : await loadConfigWithPorts(variables)
  if (readyFile !== undefined) await prepareReadyFile(readyFile, config)
  const logger = await createLogger(config)
  const crash = (error: unknown) => {
    logger.fatal(describeError(error), 'unexpected error: the process cannot continue')
    process.exit(1)
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)

  const database = await openDatabase(config, logger)
  cleanups.defer(database.stop)
  const keys = await findKeys(config)
  const rails = await openRails(config, clock, logger)
  cleanups.defer(rails.stop)
  return { config, logger, database, keys, rails }
}

const openAccount = async (config: Config) => {
  const { openFundedAccount } = await import('./dev/sandbox/funded-account.ts')
  return openFundedAccount(localUrl(config.HOST, config.PORT))
}

/** Starts tracing before the service is built, so that every request is traced. */
const traceRequests = async (endpoint: string, logger: Logger): Promise<void> => {
  const { startTracing } = await import('./process/tracing.ts')
  cleanups.defer(startTracing({ endpoint, serviceName: 'payments-service', logger }).stop)
}

/** Keeps serving until load balancers have noticed that this process is leaving. */
type StopServing = () => Promise<void>

const serve = async ({ config, logger, database, keys, rails: { rails, sandbox } }: Prepared): Promise<StopServing> => {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined) await traceRequests(config.OTEL_EXPORTER_OTLP_ENDPOINT, logger)
  const { createService } = await import('./app.ts')
  const { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY } = keys.settings
  const rings = { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY }
  const installation = await checkInstallation(database.directUrl, {
    currency: config.CURRENCY,
    rings,
    hasFees: Object.keys(config.FEES).length > 0,
  })
  const sendLog = await openSendLog(config.DATA_DIR, installation, { clock, logger })
  if (sendLog) cleanups.defer(async () => sendLog.close())
  const service = await createService({
    config: { ...config, ...keys.settings },
    databaseUrl: database.url,
    directUrl: database.directUrl,
    pooler: database.pooler,
    clock,
    logger,
    rails,
    sandbox: sandbox ? { ...sandbox, openAccount: () => openAccount(config) } : undefined,
    sendLog,
  })
  cleanups.defer(service.stop)
  await service.start()
  await listen(service.operator, operatorListener(config))
  await listen(service.http, publicListener(config))
  return async () => {
    service.beginShutdown()
    await wait(config.shutdownDelayMs)
  }
}

/** Starts the worker processes, which finish their own requests at shutdown. */
const serveByWorkers = async (
  count: number,
  { config, logger, database, rails: { sandbox } }: Prepared,
): Promise<StopServing> => {
  const stop = await startWorkers(
    count,
    {
      DATABASE_URL: database.url,
      PORT: String(config.PORT),
      OPERATOR_PORT: String(config.OPERATOR_PORT),
      ...(sandbox && { SANDBOX_URL: sandbox.url }),
    },
    logger,
  )
  cleanups.defer(stop)
  return async () => undefined
}

const start = async () => {
  if (isWorker) endWithFirst(signals.begin)
  const { processes: count, readyFile } = startOptions(isWorker ? [] : process.argv.slice(2))
  const prepared = await prepare(readyFile)
  const stopServing = await (count === 1 ? serve(prepared) : serveByWorkers(count, prepared))
  signals.closeWith(async () => {
    await stopServing()
    await cleanups.disposeAsync()
  }, prepared.config.shutdownDelayMs)
  // The sandbox resumes only now, because a callback sent before the service listens would be lost.
  prepared.rails.sandbox?.resume()
  if (isWorker) {
    reportReady()
    return
  }
  const { config, database, keys, rails } = prepared
  if (readyFile !== undefined) await writeReadyFile(readyFile, config, await openAccount(config))
  say(
    summarize({
      config,
      processes: count,
      database: database.where,
      keysFile: keys.file,
      keysMade: keys.generated,
      sandboxUrl: rails.sandbox?.url ?? null,
      seconds: process.uptime(),
    }),
  )
}

start().catch(async (error: unknown) => {
  process.stderr.write(
    error instanceof StartupError
      ? `${error.message}\n`
      : `The service did not start because of an internal error:\n${JSON.stringify(describeError(error), null, 2)}\n`,
  )
  await cleanups.disposeAsync().catch(() => undefined)
  process.exit(1)
})
