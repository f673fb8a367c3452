import type { Logger } from 'pino'
import { emitAfterCommit, signal, type Tx } from '../db/client.ts'

/** Events that need a person: the service cannot resolve them, or its books disagree with the money. */
const sentences = {
  payment_unknown: 'the outcome of a payment is unknown; its money stays held until the provider or an operator ends it',
  evidence_mismatch: "a provider's report differs from the order that was sent; nothing was booked",
  evidence_contradiction: 'a provider contradicts a final result; nothing was booked',
  provider_word:
    'a provider sent a later report about booked money that differs from the books; nothing was booked (docs/runbooks/provider-lying.md)',
  late_success: 'a failed payment was paid after all; an administrator must book it',
  payments_waiting:
    'payments have waited for two thirds of PAYMENT_WAIT_MINUTES for a rail that is down, and then fail: pause the rail to let them wait (docs/runbooks/rail-down.md)',
  superseded_attempt_moved_money:
    'an attempt moved money although a later attempt replaced it; the money is in suspense, an operator must check both',
  sweep_failing:
    'a sweep fails for one row (the others continue), or failed completely three times in a row; an operator must act',
  work_failing: 'due work on one row fails repeatedly (the rest continues); an operator must act',
  evidence_disputed: 'a provider sent another report about an attempt that waits for an operator; nothing was booked',
  suspense: 'a provider moved money that the service cannot book; an operator must decide',
  balance_refused:
    'a provider refuses to state a balance, so its money is not compared; the initiator needs the right to query it',
  reconciliation_difference: "our books and a provider's statement differ",
  database_lost_writes:
    'the database lost committed writes; nothing is sent until an operator has reconciled and run after-restore',
  unknown_sender:
    'an unknown process sent payments that are in progress: a copy of the database, or a lost DATA_DIR; rails that might pay twice are paused until an operator has reconciled and run after-restore',
  promise_broken: 'the data break a promise that must always hold',
} as const
export type Alert = keyof typeof sentences

export type AlertFacts = { subject: string; id: string; attempt?: string; code?: string }

export type Alerts = ReturnType<typeof createAlerts>

export const createAlerts = (logger: Logger) => {
  const counted = Object.fromEntries(Object.keys(sentences).map((name) => [name, 0])) as Record<Alert, number>
  return {
    raise: (alert: Alert, facts: AlertFacts): void => {
      counted[alert] += 1
      logger.error({ alert, ...facts }, sentences[alert])
    },
    /** Number of times each alert was raised since the process started, for metrics. */
    counts: (): Readonly<Record<Alert, number>> => ({ ...counted }),
  }
}

export const alertCommitted = signal<{ alert: Alert; facts: AlertFacts }>('alert')

/** Raises the alert after the commit, so that a retried transaction does not raise it twice. */
export const alertAfterCommit = (tx: Tx, alert: Alert, facts: AlertFacts): void =>
  emitAfterCommit(tx, alertCommitted, { alert, facts })
