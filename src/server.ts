import { createService } from './app.ts'
import { describeError } from './db/errors.ts'
import { createMovableClock } from './lib/clock.ts'
import { StartupError } from './lib/startup-error.ts'
import { openDatabase } from './process/database.ts'
import { findKeys } from './process/development-keys.ts'
import { readEnvironment } from './process/environment.ts'
import { createLogger } from './process/logger.ts'
import { listen, loadConfigWithPorts, operatorListener, publicListener } from './process/ports.ts'
import { openRails } from './process/rails.ts'
import { handleSignals } from './process/signals.ts'
import { summarize } from './process/summary.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)
// Whoever reads our output may go before we do (`npm start | head`); that is no reason to end.
process.stdout.on('error', () => undefined)

const signals = handleSignals(say)
const parts = new AsyncDisposableStack()

const start = async () => {
  const config = await loadConfigWithPorts(readEnvironment())
  const logger = await createLogger(config)
  const crash = (error: unknown) => {
    logger.fatal(describeError(error), 'a bug: the process cannot go on')
    process.exit(1)
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)

  const database = await openDatabase(config, logger)
  parts.defer(database.stop)
  const { file, made, ...keys } = await findKeys(config)
  const clock = createMovableClock()
  const { rails, sandbox, stop } = await openRails(config, clock, logger)
  parts.defer(stop)
  const service = await createService({
    config: { ...config, ...keys },
    databaseUrl: database.url,
    clock,
    logger,
    rails,
    ...(sandbox && { sandbox }),
  })
  parts.defer(service.stop)
  await service.start()
  await listen(service.operator, operatorListener(config))
  await listen(service.http, publicListener(config))
  signals.closeWith(() => parts.disposeAsync())
  say(
    summarize({
      config,
      database: database.where,
      keysFile: file,
      keysMade: made,
      sandboxUrl: sandbox?.url ?? null,
      dashboard: service.http.hasRoute({ method: 'GET', url: '/account' }),
      seconds: process.uptime(),
    }),
  )
}

start().catch(async (error: unknown) => {
  process.stderr.write(
    error instanceof StartupError
      ? `${error.message}\n`
      : `The service did not start, by a fault of its own:\n${JSON.stringify(describeError(error), null, 2)}\n`,
  )
  await parts.disposeAsync().catch(() => undefined)
  process.exit(1)
})
