import { z } from 'zod'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { refusals } from './wire.ts'

const Health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })

/** Liveness asks nothing of anybody; readiness asks the database, and whether its migrations are the ones of this release. */
export const registerServiceRoutes = (app: App, isReady: () => Promise<boolean>): void => {
  app.get(
    '/healthz',
    {
      config: { operation: 'service.health', access: 'public', unlimited: true, query: 'lenient' },
      schema: { response: { 200: Health } },
    },
    async (_request, reply) => reply.send({ status: 'ok' }),
  )
  app.get(
    '/readyz',
    {
      config: { operation: 'service.ready', access: 'public', unlimited: true, query: 'lenient' },
      schema: { response: { 200: Health, ...refusals('unavailable') } },
    },
    async (_request, reply) => {
      if (!(await isReady().catch(() => false))) throw new Refusal('unavailable', { headers: { 'retry-after': '1' } })
      return reply.send({ status: 'ok' })
    },
  )
}
