import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'
import { isUnsafe } from './authorize.ts'
import { refusalAnswer } from './envelope.ts'

/**
 * What is refused first under overload: reads and sign-in, then what moves money. What stops something or gives money back is never
 * refused.
 */
type Rank = 'first' | 'last' | 'never'

/** The most requests under way at which one of this rank is still accepted. */
const most = { first: 192, last: 384 } as const
/** How long a request may have to wait for those before it, by estimate. */
const waitSeconds = { first: 0.5, last: 2 } as const
/** This many are always accepted, however slow everything is: with fewer, the rate at which requests end could not be measured. */
const always = { first: 64, last: 128 } as const
const smoothing = 0.3
/** With a delay this long, the event loop is what all requests wait for: only the last rank is accepted, and then nothing. */
const lateMs = { first: 500, last: 2_000 } as const
/** With fewer requests under way the cause of the delay is not load, but one piece of work: loading a library, a pause. */
const fewest = 16

/**
 * Little's law: a request that arrives while n requests are under way, of which r end each second, waits n/r seconds. So n is limited to
 * the number at which this wait is as long as a caller should wait, within fixed bounds: three times as many as saturate a process (128),
 * so that an accepted request waits at most three times as long as at capacity. The rest is refused at once and may be sent again.
 */
export const createAdmission = () => {
  let underWay = 0
  let ended = 0
  let perSecond = 0
  let late = 0
  const limit = (rank: 'first' | 'last'): number => Math.max(always[rank], Math.min(most[rank], perSecond * waitSeconds[rank]))
  return {
    /** Whether a request may begin. Each one that may must call `leave` at its end. */
    enter: (rank: Rank): boolean => {
      const isLate = (of: 'first' | 'last') => underWay >= fewest && late > lateMs[of]
      if (rank !== 'never' && (underWay >= limit(rank) || isLate(rank))) return false
      underWay += 1
      return true
    },
    leave: (): void => {
      underWay -= 1
      ended += 1
    },
    /** Called ten times a second, with the delay of the event loop: this measures how fast requests end. */
    tick: (lateNow: number): void => {
      perSecond += smoothing * ((ended * 1000) / (100 + lateNow) - perSecond)
      ended = 0
      late = lateNow
    },
    underWay: () => underWay,
  }
}

const tickMs = 100
/** Delays from the start itself are not load. */
const warmUpMs = 2_000
/**
 * A refusal is delayed by this time: many clients retry at once, and would make us spend our time on refusals. It is well within the tenth
 * of a second in which a caller should get it.
 */
const refusalDelayMs = 40

const rankOf = (request: FastifyRequest): Rank => {
  const { config, url } = request.routeOptions
  if (config.unlimited || config.whileFrozen || url === undefined) return 'never'
  return isUnsafe(request.method) && !config.credentialIssuing && config.access !== 'public' ? 'last' : 'first'
}

/**
 * Refuses at once requests that would wait for long, so that waiting requests do not pile up: 503 with Retry-After. Liveness is always
 * answered: restarting a busy process helps no caller. Providers' callbacks arrive at another listener.
 */
export const registerShedding = (app: App): void => {
  const admission = createAdmission()
  let calmUntil = Number.POSITIVE_INFINITY
  let expected = performance.now() + tickMs
  const ticks = setInterval(() => {
    const now = performance.now()
    admission.tick(now < calmUntil ? 0 : Math.max(0, now - expected))
    expected = now + tickMs
  }, tickMs).unref()
  const refusal = new Refusal('unavailable', { headers: { 'retry-after': '1' } })
  const refuse = (request: FastifyRequest, reply: FastifyReply) => {
    const { headers, body } = refusalAnswer(refusal, request.id, app.publicUrl)
    reply.code(refusal.status).headers(headers).send(body)
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
    setTimeout(refuse, refusalDelayMs, request, reply)
  })
}
