import underPressure from '@fastify/under-pressure'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'

const maxEventLoopDelayMs = 2_000
/** Two of the samples that the delay is measured by: what the start itself took is not load. */
const warmUpMs = 2_000

/**
 * Refuses at once what would have to wait for seconds, so that waiting requests do not pile up. Whether the process lives is answered
 * all the same: a busy one that is restarted has helped nobody.
 */
export const registerShedding = async (app: App): Promise<void> => {
  let calmUntil = Number.POSITIVE_INFINITY
  app.addHook('onListen', async () => {
    calmUntil = performance.now() + warmUpMs
  })
  await app.register(underPressure, {
    maxEventLoopDelay: maxEventLoopDelayMs,
    pressureHandler: async (request, _reply, _type, delayMs) => {
      // Not a number of milliseconds: nothing was measured, as after the whole machine stood still.
      if (request.routeOptions.config.unlimited || !Number.isFinite(delayMs) || performance.now() < calmUntil) return
      throw new Refusal('unavailable', { headers: { 'retry-after': '1' } })
    },
  })
}
