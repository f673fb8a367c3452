import { fastify } from 'fastify'
import type { App } from '../http/app-type.ts'
import type { Deps } from '../modules/deps.ts'

/** The private listener: provider callbacks and metrics. The public one never serves them and the API's document never lists them. */
export const createOperator = async (deps: Deps): Promise<App> => {
  const app = fastify({
    loggerInstance: deps.logger,
    disableRequestLogging: true,
    bodyLimit: 256 * 1024,
    forceCloseConnections: true,
  }) as unknown as App
  app.get('/healthz', async () => ({ status: 'ok' }))
  return app
}
