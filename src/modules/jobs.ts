import { sqlState } from '../db/errors.ts'
import { createPartitions, type Partitioning } from '../db/partitions.ts'
import { pruneSendLogs } from '../db/send-log-registry.ts'
import { warnOfUnsafeSettings } from '../db/server-warnings.ts'
import type { Feed } from '../events/feed.ts'
import { eventPartitioning, pruneEvents } from '../events/prune.ts'
import { sealAuditLog } from '../events/seal.ts'
import type { Sweep, Work } from '../jobs/jobs.ts'
import { countHours } from '../ledger/count-hours.ts'
import { daysAfter } from '../lib/clock.ts'
import { idempotencyRetentionDays, pruneIdempotencyKeys } from '../queue/idempotency-keys.ts'
import { applyDueSeparations } from './balances/separate-service.ts'
import { createNameCheckWorker } from './beneficiaries/names-service.ts'
import { revokeDueGrants } from './delegation/revoke-service.ts'
import { findLostDeposits, settleDeposits } from './deposits/deposit.ts'
import { registerAtEmulator } from './deposits/registration.ts'
import { warnOfUntestedRepeats } from './exceptions/duplicate-checks-service.ts'
import { declareLoss } from './exceptions/losses-service.ts'
import { pruneBalanceQueries, requestBalances } from './exceptions/reconciliation/request-balances.ts'
import { reconcilePaidIn } from './exceptions/reconciliation/service.ts'
import { pruneSessions } from './identity/sessions/service.ts'
import { pruneFlows } from './identity/sign-in/flow-rows.ts'
import { pruneNonces } from './identity/sign-in/nonces.ts'
import { createMailWorker, forgetMails } from './mail/send.ts'
import { expireMandates } from './mandates/end.ts'
import { pruneOAuth } from './oauth/prune.ts'
import type { Parts } from './parts.ts'
import { expireApprovals } from './payments/approvals/end.ts'
import { createNotificationWorker } from './payments/approvals/notification-worker.ts'
import { renewOverdue, renewTexts } from './payments/approvals/renew.ts'
import { createUnauthorizedSweep } from './payments/approvals/unauthorized.ts'
import { notifyOfShortages } from './payments/attention/shortage.ts'
import { pruneRefusals } from './payments/refusals/record.ts'
import type { Deps as PaymentsDeps } from './payments/request.ts'
import { executeScheduled } from './payments/schedule.ts'
import { createWaitTimeoutSweep } from './payments/wait-timeout.ts'
import { applyDueChanges, completePending } from './policies/pending-change.ts'
import { pruneRequestLog } from './request-log/prune.ts'
import { pruneBodies, pruneRefusedDeliveries } from './sending/deliveries.ts'
import { reconcileSweeps } from './sending/reconcile.ts'
import { createDeliveryWorker, createSendingWorkers } from './sending/workers.ts'
import { claimEarlierReceipts } from './suspense/earlier-receipts-service.ts'
import { expireTopups } from './topups/outcome.ts'

/** Dependencies of all background work, and the feed that wakes it. */
export type WorkDeps = { feed: Feed } & Parts & PaymentsDeps

const periodsOf = (config: WorkDeps['config']): readonly Partitioning[] => [
  eventPartitioning(config.EVENT_RETENTION_DAYS),
  { table: 'audit_log', unit: 'month' },
  { table: 'callback_bodies', unit: 'month' },
]

/** Sweeps of all features. A sweep that queries a rail comes before a sweep that gives up. */
const createSweeps = (deps: WorkDeps): Sweep[] => {
  const { db, clock, config } = deps
  const daysAgo = (days: number) => daysAfter(clock.now(), -days)
  return [
    { name: 'grants.end', everySeconds: 30, run: () => revokeDueGrants(deps) },
    { name: 'mandates.expire', everySeconds: 30, run: () => expireMandates(deps) },
    { name: 'policies.complete', everySeconds: 30, run: () => completePending(deps) },
    { name: 'balances.separate', everySeconds: 30, run: () => applyDueSeparations(deps) },
    { name: 'policies.change', everySeconds: 30, run: () => applyDueChanges(deps) },
    { name: 'payments.execute', everySeconds: 5, run: () => executeScheduled(deps) },
    { name: 'balances.short', everySeconds: 60, run: () => notifyOfShortages(deps) },
    { name: 'approvals.renew', everySeconds: 5, run: () => renewOverdue(deps) },
    { name: 'approvals.expire', everySeconds: 15, run: () => expireApprovals(deps) },
    { name: 'payments.unauthorized', everySeconds: 30, run: createUnauthorizedSweep(deps) },
    ...reconcileSweeps(deps),
    { name: 'payments.give_up', everySeconds: 30, run: createWaitTimeoutSweep(deps) },
    { name: 'topups.expire', everySeconds: 10, run: () => expireTopups(deps) },
    { name: 'deposits.register', everySeconds: 60, run: () => registerAtEmulator(deps) },
    { name: 'deposits.settle', everySeconds: 15, run: () => settleDeposits(deps) },
    { name: 'deposits.find', everySeconds: 900, run: () => findLostDeposits(deps) },
    { name: 'receipts.claim', everySeconds: 3600, run: () => claimEarlierReceipts(deps) },
    { name: 'reconciliation.paid_in', everySeconds: 900, run: () => reconcilePaidIn(deps) },
    { name: 'reconciliation.balances', everySeconds: 900, run: () => requestBalances(deps) },
    { name: 'ledger.count', everySeconds: 60, run: () => countHours(db, clock.now()) },
    { name: 'audit.seal', everySeconds: 10, run: () => sealAuditLog(deps) },
    { name: 'periods.create', everySeconds: 3600, run: () => createPartitions(db, periodsOf(config)) },
    { name: 'events.prune', everySeconds: 600, run: () => pruneEvents(deps) },
    { name: 'callback_bodies.prune', everySeconds: 3600, run: () => pruneBodies(deps) },
    { name: 'idempotency.prune', everySeconds: 600, run: () => pruneIdempotencyKeys(db, daysAgo(idempotencyRetentionDays)) },
    { name: 'payment_refusals.prune', everySeconds: 3600, run: () => pruneRefusals(db, daysAgo(config.REFUSAL_RETENTION_DAYS)) },
    { name: 'request_log.prune', everySeconds: 600, run: () => pruneRequestLog(db, daysAgo(config.REQUEST_LOG_RETENTION_DAYS)) },
    { name: 'callbacks.prune', everySeconds: 600, run: () => pruneRefusedDeliveries(deps.db, deps.clock) },
    { name: 'send_logs.prune', everySeconds: 3600, run: () => pruneSendLogs(db, daysAgo(7)) },
    { name: 'balance_queries.prune', everySeconds: 3600, run: () => pruneBalanceQueries(db, daysAgo(30)) },
    { name: 'mails.forget', everySeconds: 3600, run: () => forgetMails(deps) },
    { name: 'oauth.prune', everySeconds: 600, run: () => pruneOAuth(deps.db, deps.clock) },
    { name: 'nonces.prune', everySeconds: 600, run: () => pruneNonces(db, daysAgo(1)) },
    { name: 'sessions.prune', everySeconds: 600, run: () => pruneSessions(db, daysAgo(config.SESSION_RETENTION_DAYS)) },
    { name: 'sign_in_flows.prune', everySeconds: 600, run: () => pruneFlows(db, clock.now()) },
  ]
}

const failuresBeforeAlert = 3

const createWork = (deps: WorkDeps): Work => ({
  workers: {
    ...createSendingWorkers(deps),
    deliveries: [createDeliveryWorker(deps)],
    names: [createNameCheckWorker({ ...deps, onNameChanged: renewTexts })],
    notices: [createNotificationWorker(deps)],
    mails: [createMailWorker(deps)],
  },
  sweeps: createSweeps(deps),
  onFailure: (worker, key, failures) => {
    if (failures === failuresBeforeAlert) deps.alerts.raise('work_failing', { subject: worker, id: key })
  },
  onSweepFailure: (sweep, failures) => {
    if (failures === failuresBeforeAlert) deps.alerts.raise('sweep_failing', { subject: sweep, id: 'all rows' })
  },
})

const wakeAfterMs = 100

/**
 * Starts all work. The process that accepts a payment sends it. In case that process runs no jobs or is busy, the wake-up that
 * every process receives starts the others a moment later. `more`: sweeps of parts above the features.
 */
export const startWork = async (deps: WorkDeps, more: readonly Sweep[]): Promise<void> => {
  await createPartitions(deps.db, periodsOf(deps.config)).catch((error: unknown) => {
    // Another process creates the periods, or a dump holds a lock on the default partition, which has the rows without a period.
    if (sqlState(error) !== '55P03') throw error
    deps.logger.warn({}, 'new partitions could not be created; the job retries within the hour')
  })
  await warnOfUntestedRepeats(deps)
  if (deps.config.NODE_ENV === 'production') await warnOfUnsafeSettings(deps.db, deps.logger)
  deps.lossDetection.declareWith((cause, detectedAt) => declareLoss(deps, cause, detectedAt))
  deps.lossDetection.start()
  const work = createWork(deps)
  await deps.jobs.start({ ...work, sweeps: [...work.sweeps, ...more] })
  let isWaking = false
  deps.feed.onWake(() => {
    if (isWaking) return
    isWaking = true
    const wake = () => {
      isWaking = false
      deps.jobs.wake('payments', { dueIds: [] })
    }
    setTimeout(wake, wakeAfterMs).unref()
  })
}
