import { userInfo } from 'node:os'
import type { Deps } from '../../app.ts'
import { createDeps } from '../../app.ts'
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
 * Context of a command: the service's parts on the service's database, and the person at the shell. Rails are excluded, because
 * commands need only their settings (`app-rails.ts`).
 */
export type Console = { deps: Omit<Deps, 'rails'>; databaseUrl: string; operator: Operator; close: () => Promise<void> }

/** High, because a command may read every row of a table. */
const statementTimeoutMs = 3_600_000

/** `given`: the login name before sudo, or `--as`, because several people may run commands as the service's user. */
const nameAtShell = (given: string | undefined): string => {
  if (given !== undefined) return given
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}

/** Bypasses the pooler, which would apply the service's statement timeout. Old poolers also lose prepared statements. */
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

/**
 * Opens the service's settings, keys and database, even while the service runs. Runs no migrations or jobs. `as`: the person's
 * name.
 */
export const openConsole = async (as: string | undefined): Promise<Console> => {
  const variables = readEnvironment()
  const config = loadConfig(variables)
  const database = await openDatabase(config)
  let close = database.stop
  try {
    const keys = await findKeys(config)
    const clock = await readTime(config)
    const deps = createDeps({
      config: { ...config, ...keys.settings, JOBS: 'off' },
      databaseUrl: database.url,
      clock,
      logger: warningLogger(),
      rails: noRails(config, clock),
      statementTimeoutMs,
      reads: 'whole_tables',
    })
    close = async () => {
      await deps.db.close()
      await database.stop()
    }
    if (!(await migrationsCheck(deps.db.pool)()))
      throw new StartupError(
        'The database belongs to another release: run npm run admin -- migrate, or use the release that the service runs.',
      )
    const { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY } = keys.settings
    await checkInstallation(database.url, { currency: config.CURRENCY, rings: { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY } })
    return { deps, databaseUrl: database.url, operator: shellOperator(nameAtShell(as ?? variables.SUDO_USER)), close }
  } catch (error) {
    await close()
    throw sqlState(error) === undefined ? error : explain(error, 'the database')
  }
}
