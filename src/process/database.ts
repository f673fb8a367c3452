import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { connectionConfig, settingsOf } from '../db/connection-settings.ts'
import { isInterrupted, sqlState } from '../db/errors.ts'
import { type MigrateOptions, migrate, migrationsCheck } from '../db/migrate.ts'
import { type Pooler, probeServer } from '../db/pooler.ts'
import { catchUpTransactionIds, withClient } from '../db/start.ts'
import { startEmbeddedPostgres } from '../dev/embedded-postgres/start.ts'
import { parseDatabaseAddress } from '../lib/database-address.ts'
import { StartupError } from '../lib/errors.ts'

/** `stop` ends the server if this process started it. `where` describes the database to people, without its password. */
export type RunningDatabase = {
  url: string
  /** The URL of Postgres itself, even if `url` leads to a pooler. */
  directUrl: string
  pooler: Pooler | undefined
  where: string
  stop: () => Promise<void>
}

const oldestMajor = 15

const patienceMs = 30_000
const pauseMs = 200

/** Retries while a server is starting or resets connections. All other errors require the operator. */
const untilReady = async <T>(work: () => Promise<T>): Promise<T> => {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isInterrupted(error) || performance.now() > giveUpAt) throw error
      await wait(pauseMs)
    }
  }
}

/** Opens the configured database, or else an embedded Postgres in DATA_DIR. */
export const openDatabase = async (config: Config, logger: Logger): Promise<RunningDatabase> => {
  const database =
    config.DATABASE_URL === undefined
      ? await openEmbedded(config, logger)
      : await openConfigured(config, config.DATABASE_URL, logger)
  try {
    const onContended: MigrateOptions['onContended'] = (contended) =>
      logger.warn(contended, 'a migration did not get its locks in time; it will be retried')
    const onWait = (holder: string) => logger.warn({ holder }, 'another process is migrating the database; waiting for it')
    await untilReady<unknown>(() =>
      config.MIGRATE === 'off' ? refuseUnmigrated(database) : migrate(database.directUrl, { onContended, onWait }),
    )
    const behind = await untilReady(() => catchUpTransactionIds(database.directUrl))
    if (behind > 0n)
      logger.warn(
        { behind: behind.toString() },
        'the database was restored into another server; its transaction ids were advanced past the newest row',
      )
    return database
  } catch (error) {
    await database.stop()
    throw explain(error, database.where)
  }
}

const refuseUnmigrated = async ({ directUrl, where }: RunningDatabase): Promise<void> => {
  if (await withClient(directUrl, (client) => migrationsCheck(client)())) return
  throw new StartupError(`${capital(where)} belongs to another release, and MIGRATE is off: run npm run admin -- migrate.`)
}

const openEmbedded = async (config: Config, logger: Logger): Promise<RunningDatabase> => {
  const server = await startEmbeddedPostgres({
    dataDir: config.DATA_DIR,
    logger: { info: (message) => logger.info(message), error: (message) => logger.error(message) },
  })
  return { url: server.url, directUrl: server.url, pooler: undefined, where: 'the embedded database', stop: server.stop }
}

const openConfigured = async (config: Config, url: string, logger: Logger): Promise<RunningDatabase> => {
  const directUrl = config.DATABASE_DIRECT_URL
  const { server, database } = parseDatabaseAddress(url)
  const where = `the database ${database} at ${server}`
  // Rejects options that the service sets itself, before they can take effect.
  connectionConfig(url)
  try {
    const { version, pooler } = await untilReady(() => probeServer(url, settingsOf(config.DATABASE_STATEMENT_TIMEOUT_MS)))
    const major = Math.floor(version / 10_000)
    if (major < oldestMajor)
      throw new StartupError(`${where} is PostgreSQL ${major}, but this service needs ${oldestMajor} or newer.`)
    if (pooler) describePooler(pooler, directUrl, logger)
    return { url, directUrl: directUrl ?? url, pooler, where, stop: async () => undefined }
  } catch (error) {
    throw explain(error, where)
  }
}

export const needsDirectUrl =
  'DATABASE_URL goes through a pooler: set DATABASE_DIRECT_URL to Postgres itself, for migrations, LISTEN and the daily check.'

const describePooler = ({ keepsStatements, differingSettings }: Pooler, directUrl: string | undefined, logger: Logger): void => {
  if (directUrl === undefined) throw new StartupError(needsDirectUrl)
  if (!keepsStatements)
    logger.warn(
      'the pooler does not keep prepared statements, so every execution plans its statement (PgBouncer 1.21 and newer keeps them with max_prepared_statements above 0)',
    )
  if (differingSettings.length > 0)
    logger.warn(
      { settings: differingSettings },
      "the pooler's connections lack settings that the service needs: set the connect_query of deploy/pgbouncer/pgbouncer.ini for its database",
    )
}

const refused = 'rejects the user or password: correct DATABASE_URL.'
const sentences: Readonly<Record<string, string>> = {
  '28P01': refused,
  '28000': refused,
  '3D000': 'does not exist: create it, or correct DATABASE_URL.',
  '42501': 'does not let the user create tables: grant CREATE, or make the user its owner.',
  '25006': 'is read-only: promote it, or correct DATABASE_URL.',
}

export const explain = (error: unknown, where: string): unknown => {
  if (error instanceof StartupError) return error
  const state = sqlState(error)
  const said = error instanceof Error ? error.message || error.name : 'no reason given'
  const isUntrusted = error instanceof Error && 'code' in error && /CERT|UNABLE_TO_(GET|VERIFY)/.test(String(error.code))
  const trouble = state === undefined ? `does not answer (${said})` : `cannot be used (${state})`
  const sentence = isUntrusted
    ? `has an untrusted certificate (${said}): set sslrootcert to its authority, or correct DATABASE_URL.`
    : (sentences[state ?? ''] ?? `${trouble}: start it, or correct DATABASE_URL.`)
  return new StartupError(`${capital(where)} ${sentence}`, { cause: error })
}

const capital = (sentence: string) => sentence.charAt(0).toUpperCase() + sentence.slice(1)
