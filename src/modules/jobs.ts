import { pruneEvents } from '../events/prune.ts'
import { idempotencyRetentionDays, pruneIdempotencyKeys } from '../http/idempotency-retention.ts'
import type { Handlers, Sweep } from '../jobs/jobs.ts'
import { daysAfter } from '../lib/clock.ts'
import type { Deps } from './deps.ts'
import { revokeDueGrants } from './grants/service.ts'
import { pruneNonces } from './sign-in/nonces.ts'

/** Which feature works off which queue. */
export const createHandlers = (_deps: Deps): Handlers => ({
  'payments.dispatch': async () => undefined,
  'topups.dispatch': async () => undefined,
  'callbacks.process': async () => undefined,
})

/** What is looked for again and again, by every feature that has something to look for. */
export const createSweeps = (deps: Deps): Sweep[] => {
  const { db, clock, config } = deps
  const daysAgo = (days: number) => daysAfter(clock.now(), -days)
  return [
    { name: 'grants.end', everySeconds: 30, run: () => revokeDueGrants(deps) },
    { name: 'events.prune', everySeconds: 600, run: () => pruneEvents(db, daysAgo(config.EVENT_RETENTION_DAYS)) },
    { name: 'idempotency.prune', everySeconds: 600, run: () => pruneIdempotencyKeys(db, daysAgo(idempotencyRetentionDays)) },
    { name: 'nonces.prune', everySeconds: 600, run: () => pruneNonces(db, daysAgo(1)) },
  ]
}
