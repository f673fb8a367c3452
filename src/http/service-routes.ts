import { z } from 'zod'
import { unavailable } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { RecordOut } from './wire.ts'

const Health = RecordOut('Health', { status: z.literal('ok') })

/** A rail that is down stops nothing else: the answer names it, and the service stays ready. */
const Readiness = RecordOut('Readiness', {
  status: z.literal('ok'),
  rails: z.record(z.string(), z.string()).optional().describe('The rails that are paused, and why.'),
})

/** A process that is about to end is alive and not ready. */
export const registerServiceRoutes = (
  app: App,
  isReady: () => Promise<boolean>,
  railsDown: () => Record<string, string>,
): void => {
  app.get(
    '/healthz',
    {
      config: { operation: 'service.health', access: 'public', unlimited: true, query: 'lenient' },
      schema: {
        summary: 'Check liveness',
        description: 'The process is running. Depends on nothing else.',
        response: { 200: Health },
      },
    },
    async (_request, reply) => reply.send({ status: 'ok' }),
  )
  app.get(
    '/readyz',
    {
      config: { operation: 'service.ready', access: 'public', unlimited: true, query: 'lenient' },
      schema: {
        summary: 'Check readiness',
        description: 'The database answers, and its migrations are those of this release.',
        response: { 200: Readiness },
      },
    },
    async (_request, reply) => {
      // deploy/haproxy/haproxy.cfg looks for this sentence.
      if (app.departure.hasBegun) throw unavailable({ message: 'This process is about to end.' })
      if (!(await isReady().catch(() => false))) throw unavailable()
      const down = railsDown()
      return reply.send({ status: 'ok', ...(Object.keys(down).length > 0 && { rails: down }) })
    },
  )
}
