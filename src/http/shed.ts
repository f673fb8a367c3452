import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/errors.ts'
import { createAdmission, type Rank } from './admission.ts'
import type { App } from './app-type.ts'
import { isUnsafe } from './authorize.ts'
import { type MakeEnvelope, retryHeader } from './envelope.ts'

const tickMs = 100
/** What the start itself took is not load. */
const warmUpMs = 2_000
/**
 * A refusal is held back for so long: a client that comes back at once, as many do, would otherwise spend our time on refusals. Well
 * within the tenth of a second after which a caller should know.
 */
const refusalDelayMs = 40
const retryAfterSeconds = '1'

const rankOf = (request: FastifyRequest): Rank => {
  const { config, url } = request.routeOptions
  if (config.unlimited || config.whileFrozen || url === undefined) return 'never'
  return isUnsafe(request.method) && !config.credentialIssuing && config.access !== 'public' ? 'last' : 'first'
}

/**
 * Refuses at once what would have to wait for long, so that waiting requests do not pile up: 503 with Retry-After. Whether the process
 * lives is answered all the same: to restart a busy one helps no caller. Providers' callbacks come to another listener.
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
    // A stream lasts as long as its reader likes, and waits for no other request.
    if (request.routeOptions.config.longLived) return done()
    if (admission.enter(rankOf(request))) {
      reply.raw.once('close', admission.leave)
      return done()
    }
    if (refused.length === 0) setTimeout(answerRefused, refusalDelayMs)
    refused.push({ request, reply })
  })
}
