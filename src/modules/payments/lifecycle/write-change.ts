import { eq } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { payments } from '../../../db/tables/payments.ts'
import { requireMove } from '../../../db/transitions.ts'
import type { NewEvent } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import type { AuditAction } from '../../../events/audit-actions.ts'
import type { EventType } from '../../../events/types.ts'
import type { Deps } from '../../deps.ts'
import { presentPayment } from '../present.ts'
import type { PaymentRecord } from '../queries.ts'

export type PaymentChange = Partial<Omit<PaymentRecord, 'id' | 'accountId' | 'workspaceId' | 'createdAt' | 'updatedAt'>>

export type ChangeOptions = {
  actor: Actor
  /** The balance after the change, when money moved. */
  balance?: NewEvent
  /** For a change without a new state; else the event and the audit row are named after the new state. Null: no event. */
  type?: Extract<EventType, `payment.${string}`> | null
  action?: AuditAction
  after?: Record<string, unknown>
}

/**
 * The only way to change a payment after its creation: a transition of the table, with its event and its audit row. A payment that is not
 * `processing` is not due to be sent. The caller has locked the owning account and the payment.
 */
export const writeChange = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  payment: PaymentRecord,
  change: PaymentChange,
  { actor, balance, type, action, after: details }: ChangeOptions,
): Promise<PaymentRecord> => {
  const { at } = tx
  const status = change.status ?? payment.status
  if (status !== payment.status) requireMove('payment', payment.status, status)
  const written = { ...change, ...(status !== 'processing' && { dispatchDueAt: null }), updatedAt: at }
  await tx.orm.update(payments).set(written).where(eq(payments.id, payment.id))
  const after: PaymentRecord = { ...payment, ...written }
  const { id, accountId, workspaceId } = payment
  const eventType = type === undefined ? (`payment.${status}` as EventType) : type
  const events: NewEvent[] = eventType === null ? [] : [{ type: eventType, accountId, workspaceId, data: presentPayment(after) }]
  await deps.appendEvents(tx, at, balance ? [...events, balance] : events)
  await audit(tx, actor, at, {
    // The state that only a new payment has.
    action: action ?? (status === 'pending_approval' ? 'payment.create' : `payment.${status}`),
    workspaceId,
    subject: { type: 'payment', id },
    before: { status: payment.status },
    after: { status, ...details },
  })
  return after
}
