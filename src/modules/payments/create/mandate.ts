import type { Db, Tx } from '../../../db/client.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../../deps.ts'
import {
  exhaustMandateIfSpent,
  loadMandateForPayment,
  type MandateForPayment,
  readMandateForPayment,
} from '../../mandates/for-payments.ts'
import type { PaymentRecord } from '../queries.ts'

/** A mandate that a payment names, and the signature that stands for its signer's approval. */
export type PaymentMandate = MandateForPayment

const required = (mandate: PaymentMandate | undefined): PaymentMandate => {
  if (!mandate) throw notFound('mandate_id')
  return mandate
}

/** Locked. `own`: a payment that the mandate counts already, left out of what is spent. */
export const loadMandate = async (tx: Tx, workspaceId: Uuid, id: Uuid, own?: PaymentRecord): Promise<PaymentMandate> =>
  required(await loadMandateForPayment(tx, workspaceId, id, own?.amountMinor))

export const readMandate = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<PaymentMandate> =>
  required(await readMandateForPayment(db, workspaceId, id))

/** To be called when a payment has succeeded: only then can a mandate's budget be gone for good. */
export const settleMandate = async (tx: Tx, deps: Deps, payment: Pick<PaymentRecord, 'mandateId'>): Promise<void> => {
  if (payment.mandateId) await exhaustMandateIfSpent(tx, deps, payment.mandateId)
}
