import { z } from 'zod'
import { unavailable } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { routesOf } from './routes.ts'
import { RecordOut } from './wire.ts'

const Health = RecordOut('Health', { status: z.literal('ok') })

/** A paused rail does not affect anything else: the response names the rail, and the service remains ready. */
const Readiness = RecordOut('Readiness', {
  status: z.literal('ok'),
  rails: z.record(z.string(), z.string()).optional().describe('The paused rails, each with the reason.'),
})

const open = { access: 'public', unlimited: true, query: 'lenient' } as const

/** A process that is about to stop is alive but not ready. */
export const registerServiceRoutes = (
  app: App,
  deps: Parameters<typeof routesOf>[1],
  isReady: () => Promise<boolean>,
  railsDown: () => Record<string, string>,
): void => {
  const routes = routesOf(app, deps)
  routes.get('/healthz', 'service.health', {
    ...open,
    summary: 'Check liveness',
    description: 'Returns 200 if the process is running, regardless of its dependencies.',
    response: { 200: Health },
    read: async () => ({ status: 'ok' as const }),
  })
  routes.get('/readyz', 'service.ready', {
    ...open,
    summary: 'Check readiness',
    description: 'Returns 200 if the database responds and has the migrations of this release.',
    response: { 200: Readiness },
    read: async () => {
      // deploy/haproxy/haproxy.cfg matches this sentence.
      if (app.shutdown.hasBegun) throw unavailable({ message: 'This process is about to end.' })
      if (!(await isReady().catch(() => false))) throw unavailable()
      const down = railsDown()
      return { status: 'ok' as const, ...(Object.keys(down).length > 0 && { rails: down }) }
    },
  })
}
