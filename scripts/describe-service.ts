import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { createService } from '../src/app.ts'
import { noRails } from '../src/app-rails.ts'
import { loadConfig } from '../src/config.ts'
import type { RouteEntry } from '../src/http/route-table.ts'
import { systemClock } from '../src/lib/clock.ts'
import { registerOpenapi } from './docs/openapi.ts'

export type ServiceDescription = { routes: readonly RouteEntry[]; document: object }

/** The service's routes and API document. Builds the service without starting it, so it needs no port or database. */
export const describeService = async (): Promise<ServiceDescription> => {
  const key = `described:${randomBytes(32).toString('base64')}`
  const config = loadConfig({ NODE_ENV: 'test', ENCRYPTION_KEYS: key, TOKEN_SECRETS: key, ORDER_KEY: key, RECEIPT_KEYS: key })
  const service = await createService({
    config,
    databaseUrl: 'postgresql://localhost/none',
    document: registerOpenapi,
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    rails: noRails(config, systemClock),
  })
  const description = { routes: service.routes, document: service.http.swagger() }
  await service.stop()
  return description
}
