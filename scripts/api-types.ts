import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { createService } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import { systemClock } from '../src/lib/clock.ts'
import { typesOf } from './openapi-to-types.ts'

export const apiTypesFile = fileURLToPath(new URL('../client/src/api.ts', import.meta.url))

/** The document as the running service would serve it. Nothing listens and no database is asked: the routes alone make it. */
export const openapiDocument = async (): Promise<object> => {
  const key = `types:${randomBytes(32).toString('base64')}`
  const { http } = await createService({
    config: loadConfig({ NODE_ENV: 'test', ENCRYPTION_KEYS: key, TOKEN_SECRETS: key }),
    databaseUrl: 'postgresql://localhost/none',
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    rails: { payout: {}, collection: null, gates: {} },
  })
  return http.swagger()
}

export const apiTypes = async (): Promise<string> => typesOf(await openapiDocument())

/** Written before every type check, so that the client and the pages are held against the API as it is, never as it was. */
export const writeApiTypes = async (): Promise<void> => writeFile(apiTypesFile, await apiTypes())

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeApiTypes()
  // The parts of the service that were built keep timers of their own.
  process.exit(0)
}
