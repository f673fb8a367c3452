import { userInfo } from 'node:os'
import type { Deps } from '../../app.ts'
import { createParts } from '../../app.ts'
import { noRails } from '../../app-rails.ts'
import { type Config, loadConfig } from '../../config.ts'
import { sqlState } from '../../db/errors.ts'
import { checkInstallation } from '../../db/installation.ts'
import { migrationsCheck } from '../../db/migrate.ts'
import { probeServer } from '../../db/pooler.ts'
import { findKeys } from '../../dev/development-keys.ts'
import { attachEmbeddedPostgres } from '../../dev/embedded-postgres/start.ts'
import { StartupError } from '../../lib/errors.ts'
import { type Operator, shellOperator } from '../../modules/operators.ts'
import { explain, needsDirectUrl } from '../../process/database.ts'
import { readEnvironment } from '../../process/environment.ts'
import { warningLogger } from '../../process/logger.ts'
import { readTime } from '../../process/rails.ts'

/**
 * The context of a command: the service's parts on the service's database, and the person at the shell. It has no rails: settings
 * alone answer a command's questions about them (`app-rails.ts`).
 */
export type Console = { deps: Omit<Deps, 'rails'>; databaseUrl: string; operator: Operator; close: () => Promise<void> }

/** A command may read every row of a table. */
const statementTimeoutMs = 3_600_000

const nameAtShell = (): string => {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}

/** Connects to Postgres itself. A pooler ends statements by the service's timeout, and an old one forgets prepared statements. */
export const openDatabase = async (config: Config = loadConfig(readEnvironment())) => {
  const { DATABASE_URL, DATABASE_DIRECT_URL, DATA_DIR } = config
  if (DATABASE_URL === undefined) return attachEmbeddedPostgres(DATA_DIR)
  const url = DATABASE_DIRECT_URL ?? DATABASE_URL
  const { pooler } = await probeServer(url, {}).catch((error: unknown) => {
    throw explain(error, 'the database')
  })
  if (pooler) throw new StartupError(needsDirectUrl)
  return { url, stop: async () => undefined }
}

/** The service's settings, keys and database, whether the service runs or not. Applies no migration and runs no job. */
export const openConsole = async (): Promise<Console> => {
  const config = loadConfig(readEnvironment())
  const database = await openDatabase(config)
  try {
    const keys = await findKeys(config)
    const clock = await readTime(config)
    const deps = createParts({
      config: { ...config, ...keys.settings, JOBS: 'off' },
      databaseUrl: database.url,
      clock,
      logger: warningLogger(),
      rails: noRails(config, clock),
      statementTimeoutMs,
    })
    if (!(await migrationsCheck(deps.db.pool)()))
      throw new StartupError(
        'The database belongs to another release: run npm run admin -- migrate, or use the release that the service runs.',
      )
    const { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY } = keys.settings
    await checkInstallation(database.url, { currency: config.CURRENCY, rings: { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY } })
    const close = async () => {
      await deps.db.close()
      await database.stop()
    }
    return { deps, databaseUrl: database.url, operator: shellOperator(nameAtShell()), close }
  } catch (error) {
    await database.stop()
    throw sqlState(error) === undefined ? error : explain(error, 'the database')
  }
}
