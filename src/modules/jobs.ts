import type { Handlers, Sweep } from '../jobs/jobs.ts'
import { expireApprovals } from './approvals/expire.ts'
import type { Deps } from './deps.ts'
import { revokeDueGrants } from './grants/service.ts'

/** Which feature works off which queue. */
export const createHandlers = (_deps: Deps): Handlers => ({
  'payments.dispatch': async () => undefined,
  'topups.dispatch': async () => undefined,
  'callbacks.process': async () => undefined,
})

/** What is looked for again and again, by every feature that has something to look for. */
export const createSweeps = (deps: Deps): Sweep[] => [
  { name: 'grants.end', everySeconds: 30, run: () => revokeDueGrants(deps) },
  { name: 'approvals.expire', everySeconds: 15, run: () => expireApprovals(deps) },
]
