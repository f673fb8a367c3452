import { pruneEvents } from '../events/prune.ts'
import { sealAuditLog } from '../events/seal.ts'
import { idempotencyRetentionDays, pruneIdempotencyKeys } from '../http/idempotency-retention.ts'
import type { Handlers, Sweep } from '../jobs/jobs.ts'
import { daysAfter } from '../lib/clock.ts'
import { revokeDueGrants } from './delegation/grants/service.ts'
import type { Deps } from './deps.ts'
import { pruneFlows } from './identity/sign-in/flows.ts'
import { pruneNonces } from './identity/sign-in/nonces.ts'
import { expireMandates } from './mandates/end.ts'
import { pruneOAuth } from './oauth/prune.ts'
import { expireApprovals } from './payments/approvals/expire.ts'
import { processDelivery, pruneRefusedDeliveries } from './payments/lifecycle/attempts/deliveries.ts'
import { dispatch } from './payments/lifecycle/attempts/dispatch.ts'
import { reconcile } from './payments/lifecycle/attempts/reconcile.ts'
import { enqueueWhatWaits } from './payments/lifecycle/attempts/requeue-stalled.ts'
import type { Subjects } from './payments/lifecycle/attempts/subject.ts'
import { paymentSubject } from './payments/lifecycle/subject.ts'
import { expireTopups } from './topups/expiry.ts'
import { topupSubject } from './topups/subject.ts'

/** What rails are asked to do something for. */
const subjects: Subjects = { payment: paymentSubject, topup: topupSubject }

/** Which feature works off which queue. */
export const createHandlers = (deps: Deps): Handlers => ({
  'payments.dispatch': ({ id }) => dispatch(deps, subjects, 'payment', id),
  'topups.dispatch': ({ id }) => dispatch(deps, subjects, 'topup', id),
  'callbacks.process': ({ id }) => processDelivery(deps, subjects, id),
})

/** What is looked for again and again, by every feature that has something to look for. Who asks comes before who gives up. */
export const createSweeps = (deps: Deps): Sweep[] => {
  const { db, clock, config } = deps
  const daysAgo = (days: number) => daysAfter(clock.now(), -days)
  return [
    { name: 'grants.end', everySeconds: 30, run: () => revokeDueGrants(deps) },
    { name: 'mandates.expire', everySeconds: 30, run: () => expireMandates(deps) },
    { name: 'approvals.expire', everySeconds: 15, run: () => expireApprovals(deps) },
    { name: 'attempts.enqueue_what_waits', everySeconds: 30, run: () => enqueueWhatWaits(deps) },
    { name: 'attempts.reconcile', everySeconds: 5, run: () => reconcile(deps, subjects) },
    { name: 'topups.expire', everySeconds: 10, run: () => expireTopups(deps) },
    { name: 'audit.seal', everySeconds: 10, run: () => sealAuditLog(deps) },
    { name: 'events.prune', everySeconds: 600, run: () => pruneEvents(db, daysAgo(config.EVENT_RETENTION_DAYS)) },
    { name: 'idempotency.prune', everySeconds: 600, run: () => pruneIdempotencyKeys(db, daysAgo(idempotencyRetentionDays)) },
    { name: 'callbacks.prune', everySeconds: 600, run: () => pruneRefusedDeliveries(deps) },
    { name: 'oauth.prune', everySeconds: 600, run: () => pruneOAuth(deps) },
    { name: 'nonces.prune', everySeconds: 600, run: () => pruneNonces(db, daysAgo(1)) },
    { name: 'sign_in_flows.prune', everySeconds: 600, run: () => pruneFlows(db, clock.now()) },
  ]
}
