import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import type { Parts } from '../../modules/parts.ts'

/** The emulated providers, the time that they share with the service, and funded accounts for tests. */
export type SandboxControl = {
  url: string
  advance: (seconds: number) => Promise<void>
  openAccount: () => Promise<object>
}

const maxSeconds = 34_560_000
const NewTime = z.union([
  z.strictObject({ advance_seconds: z.int().min(1).max(maxSeconds) }),
  z.strictObject({ now: z.iso.datetime({ offset: true }) }),
])

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** A web page cannot know the token, so requests with the token may use any host name. */
export const hasControlToken = ({ headers, url }: FastifyRequest, token: string | undefined): boolean =>
  token !== undefined &&
  url.startsWith('/sandbox') &&
  timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`))

const isLocal = (address: string | undefined): boolean =>
  address !== undefined && /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(address)

const secondsUntil = (newTime: z.output<typeof NewTime>, now: Date): number =>
  'now' in newTime ? Math.ceil((Date.parse(newTime.now) - now.getTime()) / 1000) : newTime.advance_seconds

/** For programs on this machine, or with the token. */
export const registerSandbox = (
  operator: App,
  deps: Pick<Parts, 'clock' | 'config' | 'jobs'>,
  { url, advance, openAccount }: SandboxControl,
): void => {
  operator.register(async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      const { host, origin } = request.headers
      if (hasControlToken(request, deps.config.SANDBOX_TOKEN)) return undefined
      if (isLocal(host) && (origin === undefined || isLocal(origin))) return undefined
      const message = 'From another machine or container, send "Authorization: Bearer" with the SANDBOX_TOKEN of the service.'
      return reply.code(403).send({ error: 'forbidden', message })
    })
    app.get('/sandbox', async (_request, reply) => reply.redirect(`${url}/control`))
    app.get('/sandbox/clock', async () => ({ now: deps.clock.now().toISOString() }))
    // Work that is due at the new time is done before the response.
    app.post('/sandbox/clock', async (request, reply) => {
      const { data: newTime } = NewTime.safeParse(request.body)
      const aheadSeconds = newTime ? secondsUntil(newTime, deps.clock.now()) : Number.NaN
      if (!(aheadSeconds <= maxSeconds)) {
        const message = `Send advance_seconds (1 to ${maxSeconds}) or now (a time).`
        return reply.code(400).send({ error: 'invalid_request', message })
      }
      if (aheadSeconds < 0) {
        const message = `Time can only move forward: it is ${deps.clock.now().toISOString()}.`
        return reply.code(409).send({ error: 'conflict', message })
      }
      if (aheadSeconds > 0) await advance(aheadSeconds)
      await deps.jobs.sweep()
      return reply.send({ now: deps.clock.now().toISOString() })
    })
    app.post('/sandbox/accounts', async (_request, reply) => {
      try {
        return await reply.code(201).send(await openAccount())
      } catch (error) {
        return reply.code(409).send({ error: 'conflict', message: error instanceof Error ? error.message : String(error) })
      }
    })
    /** Forwards to the emulator, which listens only on this machine. */
    app.all('/sandbox/control/*', async ({ method, url: path, body }, reply) => {
      const to = new URL(path.slice('/sandbox'.length), url)
      if (!to.pathname.startsWith('/control/')) return reply.callNotFound()
      const sent = body === undefined || body === null ? {} : { body: JSON.stringify(body) }
      const answer = await fetch(to, { method, ...sent, ...(sent.body && { headers: { 'content-type': 'application/json' } }) })
      const text = await answer.text()
      return reply
        .code(answer.status)
        .type(answer.headers.get('content-type') ?? 'application/json')
        .send(text)
    })
  })
}
