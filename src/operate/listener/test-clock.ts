import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Clock } from '../../lib/clock.ts'

/** Where the sandbox is, and how its time and ours are moved forward. */
export type SandboxControl = { url: string; advance: (seconds: number) => Promise<void> }

const Advance = z.strictObject({
  advance_seconds: z
    .int()
    .min(1)
    .max(400 * 86_400),
})

/**
 * For a sandbox only: approvals expire, days end and keys expire while a person watches. What becomes due by the new time is done before
 * the answer. JSON only, so that no page of another site can post it.
 */
export const registerTestClock = (operator: App, deps: { clock: Clock; jobs: Jobs }, sandbox: SandboxControl): void => {
  void operator.register(async (app) => {
    app.get('/sandbox', async (_request, reply) => reply.redirect(`${sandbox.url}/control`))
    app.get('/sandbox/clock', async (_request, reply) => reply.send({ now: deps.clock.now().toISOString() }))
    app.post('/sandbox/clock', async (request, reply) => {
      const parsed = Advance.safeParse(request.body)
      if (!parsed.success) return reply.code(400).send({ error: 'invalid_request', message: 'advance_seconds: 1 to 34560000' })
      await sandbox.advance(parsed.data.advance_seconds)
      await deps.jobs.sweep()
      return reply.send({ now: deps.clock.now().toISOString() })
    })
  })
}
