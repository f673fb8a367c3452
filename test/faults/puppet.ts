import { createServer } from 'node:http'
import { createService } from '../../src/app.ts'
import { checkInstallation } from '../../src/db/installation.ts'
import { findKeys } from '../../src/dev/development-keys.ts'
import { createMovableClock } from '../../src/lib/clock.ts'
import { openDatabase } from '../../src/process/database.ts'
import { readEnvironment } from '../../src/process/environment.ts'
import { createLogger } from '../../src/process/logger.ts'
import { listen, loadConfigWithPorts, operatorListener, publicListener } from '../../src/process/ports.ts'
import { openRails } from '../../src/process/rails.ts'
import { openSendLog } from '../../src/process/send-log.ts'

/*
 * The service in a separate process, from the same parts as `src/server.ts`, that works only on command. So a test knows its work
 * at the time of a kill, and no background work adds to the counted messages. `POST /drain` and `POST /sweep` at the printed
 * address.
 */
const clock = createMovableClock()
const config = await loadConfigWithPorts({ ...readEnvironment(), JOBS: 'off' })
const logger = await createLogger(config)
const database = await openDatabase(config, logger)
const keys = await findKeys(config)
const { rails } = await openRails(config, clock, logger)
const { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY } = keys.settings
const rings = { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY }
const installation = await checkInstallation(database.directUrl, { currency: config.CURRENCY, rings })
const sendLog = await openSendLog(config.DATA_DIR, installation, { clock, logger })
const service = await createService({
  config: { ...config, ...keys.settings },
  databaseUrl: database.url,
  directUrl: database.directUrl,
  clock,
  logger,
  rails,
  ...(sendLog && { sendLog }),
})
await service.start()
await listen(service.operator, operatorListener(config))
await listen(service.http, publicListener(config))

const { jobs } = service.deps
const work: Readonly<Record<string, () => Promise<unknown>>> = { '/drain': () => jobs.drain(), '/sweep': () => jobs.sweep() }
const control = createServer((request, response) => {
  const end = (status: number) => response.writeHead(status).end()
  const task = work[request.url ?? '']
  if (task)
    task().then(
      () => end(204),
      () => end(500),
    )
  else end(404)
})
control.listen(0, '127.0.0.1', () => {
  const address = control.address()
  console.log(`takes commands at http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0} `)
})
