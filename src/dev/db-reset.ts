import { parseArgs } from 'node:util'
import { loadConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { withClient } from '../db/start.ts'
import { parseDatabaseAddress } from '../lib/database-address.ts'
import { StartupError } from '../lib/errors.ts'
import { isLoopbackUrl } from '../lib/loopback.ts'
import { readEnvironment } from '../process/environment.ts'
import { startEmbeddedPostgres } from './embedded-postgres/start.ts'

// Empties and migrates the database of `npm start`. Refuses an embedded database while the service is using it.

const schemas = ['public', 'drizzle']

const reset = async () => {
  const { values } = parseArgs({ options: { yes: { type: 'boolean', default: false } } })
  const { NODE_ENV, DATABASE_URL, DATA_DIR } = loadConfig(readEnvironment())
  if (NODE_ENV === 'production')
    throw new StartupError('NODE_ENV is production: this script does not empty a production database.')
  const configured = DATABASE_URL === undefined ? null : parseDatabaseAddress(DATABASE_URL)
  if (configured?.host && !isLoopbackUrl(`postgres://${configured.host}`) && !values.yes)
    throw new StartupError(`DATABASE_URL is on ${configured.host}, not on this machine: add -- --yes to empty it anyway.`)
  const embedded = DATABASE_URL === undefined ? await startEmbeddedPostgres({ dataDir: DATA_DIR }) : undefined
  const url = DATABASE_URL ?? embedded?.url ?? ''
  try {
    await withClient(url, async (client) => {
      for (const schema of schemas) await client.query(`drop schema if exists ${schema} cascade`)
      await client.query('create schema public')
    })
    await migrate(url)
  } finally {
    await embedded?.stop()
  }
  console.log(`Emptied and migrated: ${configured ? `${configured.database} at ${configured.server}` : DATA_DIR}`)
}

await reset().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
