import type { Tx } from '../../db/client.ts'
import { notFound } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { MandateRules } from '../../policy/types.ts'
import type { Deps } from '../deps.ts'
import type { PaymentRecord } from './queries.ts'

/** A mandate that a payment names, locked, and the signature that stands for its signer's approval. */
export type PaymentMandate = {
  rules: MandateRules
  signature: { accountId: Uuid; signer: string; signature: string; message: string }
}

/** `own`: a payment that the mandate counts already, left out of what is spent. */
export const loadMandate = async (_tx: Tx, _workspaceId: Uuid, _id: Uuid, _own?: PaymentRecord): Promise<PaymentMandate> => {
  throw notFound()
}

export const settleMandate = async (_tx: Tx, _deps: Deps, _mandate: PaymentMandate): Promise<void> => undefined
