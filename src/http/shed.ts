import type { FastifyReply, FastifyRequest } from 'fastify'
import { unavailable } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { isUnsafe } from './authorize.ts'
import { refusalAnswer } from './envelope.ts'

/** `first`: reads and sign-in; `last`: requests that move money; `never`: requests that stop something or give money back. */
type Rank = 'first' | 'last' | 'never'

/** The maximum number of requests under way at which one of this rank is accepted. */
const maxUnderWay = { first: 192, last: 384 } as const
/** The estimated time that a request may wait for those before it. */
const maxWaitSeconds = { first: 0.5, last: 2 } as const
/** Accepted even if everything is slow: with fewer, the rate at which requests end could not be measured. */
const alwaysAccepted = { first: 64, last: 128 } as const
const smoothing = 0.3
/**
 * All requests wait for the event loop. If it is later than `first`, only the last rank is accepted; if it is later than `last`,
 * neither rank is.
 */
const maxLoopDelayMs = { first: 500, last: 2_000 } as const
/** With fewer requests under way a delay comes from one piece of work, not from load: loading a library, a pause. */
const minUnderWay = 16

/**
 * Little's law: a request that arrives while n are under way, of which r end each second, waits n/r seconds. n is limited to the
 * number at which this wait is as long as a caller should wait. Its bound is three times the number that saturates a process
 * (128), so a request waits at most three times as long as at capacity. The rest is refused at once.
 */
export const createAdmission = () => {
  let underWay = 0
  let ended = 0
  let perSecond = 0
  let loopDelayMs = 0
  const limit = (rank: 'first' | 'last'): number =>
    Math.max(alwaysAccepted[rank], Math.min(maxUnderWay[rank], perSecond * maxWaitSeconds[rank]))
  return {
    /** A request that may begin calls `leave` at its end. */
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
    /** Called ten times a second, with the delay of the event loop. */
    tick: (loopDelayNow: number): void => {
      perSecond += smoothing * ((ended * 1000) / (100 + loopDelayNow) - perSecond)
      ended = 0
      loopDelayMs = loopDelayNow
    },
    underWay: () => underWay,
  }
}

const tickMs = 100
/** Delays from the start are not load. */
const warmUpMs = 2_000
/**
 * The delay of a refusal: many clients retry at once, and the process would spend its time on refusals. A caller should get a
 * refusal within 100 ms.
 */
const refusalDelayMs = 40

const rankOf = (request: FastifyRequest): Rank => {
  const { config, url } = request.routeOptions
  if (config.unlimited || config.whileFrozen || url === undefined) return 'never'
  return isUnsafe(request.method) && !config.credentialIssuing && config.access !== 'public' ? 'last' : 'first'
}

/** Refuses requests that would wait long. Liveness is always answered; providers' callbacks arrive at another listener. */
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
    // For the request's line in the log: no error handler sees this refusal.
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
