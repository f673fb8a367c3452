import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/errors.ts'
import { createAdmission, type Rank } from './admission.ts'
import type { App } from './app-type.ts'
import { isUnsafe } from './authorize.ts'
import { type MakeEnvelope, retryHeader } from './envelope.ts'

const tickMs = 100
/** Delays from the start itself are not load. */
const warmUpMs = 2_000
/**
 * A refusal is delayed by this time: many clients retry at once, and would make us spend our time on refusals. It is well within the tenth
 * of a second in which a caller should get it.
 */
const refusalDelayMs = 40
const retryAfterSeconds = '1'

const rankOf = (request: FastifyRequest): Rank => {
  const { config, url } = request.routeOptions
  if (config.unlimited || config.whileFrozen || url === undefined) return 'never'
  return isUnsafe(request.method) && !config.credentialIssuing && config.access !== 'public' ? 'last' : 'first'
}

/**
 * Refuses at once requests that would wait for long, so that waiting requests do not pile up: 503 with Retry-After. Liveness is always
 * answered: restarting a busy process helps no caller. Providers' callbacks arrive at another listener.
 */
export const registerShedding = (app: App, makeEnvelope: MakeEnvelope): void => {
  const admission = createAdmission({ most: { first: 192, last: 384 }, waitSeconds: { first: 0.5, last: 2 } })
  let calmUntil = Number.POSITIVE_INFINITY
  let expected = performance.now() + tickMs
  const ticks = setInterval(() => {
    const now = performance.now()
    admission.tick(now < calmUntil ? 0 : Math.max(0, now - expected))
    expected = now + tickMs
  }, tickMs).unref()
  let refused: { request: FastifyRequest; reply: FastifyReply }[] = []
  const answerRefused = () => {
    const waiting = refused
    refused = []
    const refusal = new Refusal('unavailable')
    for (const { request, reply } of waiting) {
      reply
        .code(refusal.status)
        .headers({ ...retryHeader(refusal), 'retry-after': retryAfterSeconds, 'cache-control': 'no-store' })
        .type('application/json')
        .send(JSON.stringify(makeEnvelope(refusal, request.id)))
    }
  }

  app.addHook('onListen', async () => {
    calmUntil = performance.now() + warmUpMs
  })
  app.addHook('onClose', async () => clearInterval(ticks))
  app.addHook('onRequest', (request, reply, done) => {
    // A stream lasts as long as its reader wants, and does not wait for other requests.
    if (request.routeOptions.config.longLived) return done()
    if (admission.enter(rankOf(request))) {
      reply.raw.on('close', admission.leave)
      return done()
    }
    if (refused.length === 0) setTimeout(answerRefused, refusalDelayMs)
    refused.push({ request, reply })
  })
}
