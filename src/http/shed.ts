import type { FastifyReply, FastifyRequest } from 'fastify'
import { unavailable } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { isUnsafe } from './authorize.ts'
import { refusalAnswer } from './envelope.ts'

/** `first`: reads and sign-in. `last`: requests that move money. `never`: requests that stop something or return money. */
type Rank = 'first' | 'last' | 'never'

/** Maximum number of requests in progress at which a request of this rank is still accepted. */
const maxUnderWay = { first: 192, last: 384 } as const
/** Maximum estimated time that a request may wait for the requests before it. */
const maxWaitSeconds = { first: 0.5, last: 2 } as const
/** Always accepted, even if everything is slow: with fewer requests, the completion rate could not be measured. */
const alwaysAccepted = { first: 64, last: 128 } as const
const smoothing = 0.3
/** Every request waits for the event loop. Beyond the delay of its rank, a request is refused. */
const maxLoopDelayMs = { first: 500, last: 2_000 } as const
/** With fewer requests in progress, a delay is caused by a single piece of work (loading a library, a pause), not by load. */
const minUnderWay = 16

/**
 * Little's law: a request that arrives while n are in progress, of which r complete per second, waits n/r seconds. Admission
 * limits n so that this wait stays acceptable. The upper limit is three times the number that saturates a process (128), so a
 * request waits at most three times as long as at capacity. Further requests are refused at once.
 */
export const createAdmission = () => {
  let underWay = 0
  let ended = 0
  let perSecond = 0
  let loopDelayMs = 0
  const limit = (rank: 'first' | 'last'): number =>
    Math.max(alwaysAccepted[rank], Math.min(maxUnderWay[rank], perSecond * maxWaitSeconds[rank]))
  return {
    /** Returns whether the request may begin. If so, the caller must call `leave` when the request ends. */
    enter: (rank: Rank): boolean => {
      const isLoopDelayed = (of: 'first' | 'last') => underWay >= minUnderWay && loopDelayMs > maxLoopDelayMs[of]
      if (rank !== 'never' && (underWay >= limit(rank) || isLoopDelayed(rank))) return false
      underWay += 1
      return true
    },
    leave: (): void => {
      underWay -= 1
      ended += 1
    },
    /** Called ten times a second with the current delay of the event loop. */
    tick: (loopDelayNow: number): void => {
      perSecond += smoothing * ((ended * 1000) / (100 + loopDelayNow) - perSecond)
      ended = 0
      loopDelayMs = loopDelayNow
    },
    underWay: () => underWay,
  }
}

const tickMs = 100
/** Delays during startup are not caused by load. */
const warmUpMs = 2_000
/**
 * How long a refusal is delayed: if many clients retried at once, the process would spend its time on refusals. A caller should
 * still get a refusal within 200 ms. With 640 connections, a delay of 90 ms instead of 40 accepts 9 % more requests.
 */
const refusalDelayMs = 90

const rankOf = (request: FastifyRequest): Rank => {
  const { config, url } = request.routeOptions
  if (config.unlimited || config.whileFrozen || url === undefined) return 'never'
  return isUnsafe(request.method) && !config.credentialIssuing && config.access !== 'public' ? 'last' : 'first'
}

/** Refuses requests that would wait too long. Liveness checks always get a response. Provider callbacks use another listener. */
export const registerShedding = (app: App): void => {
  const admission = createAdmission()
  let calmUntil = Number.POSITIVE_INFINITY
  let expected = performance.now() + tickMs
  const ticks = setInterval(() => {
    const now = performance.now()
    admission.tick(now < calmUntil ? 0 : Math.max(0, now - expected))
    expected = now + tickMs
  }, tickMs).unref()
  const refusal = unavailable({ shortage: 'busy' })
  const refuse = (request: FastifyRequest, reply: FastifyReply) => {
    // Set for the request log, because no error handler sees this refusal.
    request.refusal = refusal
    const { headers, body } = refusalAnswer(refusal, request.id, app.publicUrl)
    reply.code(refusal.status).headers(headers).send(body)
  }

  app.addHook('onListen', async () => {
    calmUntil = performance.now() + warmUpMs
  })
  app.addHook('onClose', async () => clearInterval(ticks))
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.longLived) return done()
    if (admission.enter(rankOf(request))) {
      reply.raw.on('close', admission.leave)
      return done()
    }
    setTimeout(refuse, refusalDelayMs, request, reply)
  })
}
