import { parseArgs } from 'node:util'
import { loadConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { withStartClient } from '../db/start.ts'
import { parseDatabaseAddress } from '../lib/database-address.ts'
import { StartupError } from '../lib/errors.ts'
import { isLoopbackUrl } from '../lib/loopback.ts'
import { readEnvironment } from '../process/environment.ts'
import { startEmbeddedPostgres } from './embedded-postgres/start.ts'

// Empties the database that `npm start` would use, and migrates it again. The embedded database refuses while the service runs on it.

const schemas = ['public', 'drizzle']

const refuseToLoseData = (config: ReturnType<typeof loadConfig>, yes: boolean) => {
  if (config.NODE_ENV === 'production')
    throw new StartupError('This is production (NODE_ENV): its database is not emptied by a script.')
  const url = config.DATABASE_URL
  const host = url === undefined ? null : parseDatabaseAddress(url).host
  const elsewhere = host !== null && !isLoopbackUrl(`postgres://${host}`) ? host : null
  if (elsewhere && !yes)
    throw new StartupError(`DATABASE_URL is on ${elsewhere}, not on this machine: add -- --yes to empty it all the same.`)
}

const empty = async (url: string) => {
  await withStartClient(url, async (client) => {
    for (const schema of schemas) await client.query(`drop schema if exists ${schema} cascade`)
    await client.query('create schema public')
  })
}

const reset = async () => {
  const { values } = parseArgs({ options: { yes: { type: 'boolean', default: false } } })
  const config = loadConfig(readEnvironment())
  refuseToLoseData(config, values.yes)
  const embedded = config.DATABASE_URL === undefined ? await startEmbeddedPostgres({ dataDir: config.DATA_DIR }) : undefined
  const url = config.DATABASE_URL ?? embedded?.url ?? ''
  try {
    await empty(url)
    await migrate(url)
  } finally {
    await embedded?.stop()
  }
  console.log(
    `Emptied and migrated: ${embedded ? config.DATA_DIR : `${parseDatabaseAddress(url).database} at ${parseDatabaseAddress(url).server}`}`,
  )
}

await reset().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
