import type { Tx } from '../../../db/client.ts'
import type { ReleasedPaymentStatus } from '../../../db/transitions.ts'
import type { Actor } from '../../../events/audit.ts'
import { voidHold } from '../../../ledger/ledger.ts'
import type { Failure } from '../../../lib/failure-codes.ts'
import type { Deps } from '../../deps.ts'
import { balanceUpdated } from '../../identity/accounts/service.ts'
import { releaseCharges } from '../evaluation/counters.ts'
import type { PaymentRecord } from '../queries.ts'
import { writeChange } from './write-change.ts'

export type Release = { to: ReleasedPaymentStatus; actor: Actor; failure?: Failure | undefined }

/**
 * Ends a payment that will not be paid: releases the hold and takes every charge back. The caller has locked the owning account and the
 * payment.
 */
export const releasePayment = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  payment: PaymentRecord,
  { to, actor, failure }: Release,
): Promise<PaymentRecord> => {
  const { at } = tx
  const { balance } = await voidHold(tx, payment.holdTransferId, at)
  await releaseCharges(tx, payment)
  const change = {
    status: to,
    failureCode: failure?.code ?? null,
    failureMessage: failure?.message ?? null,
    providerCode: failure?.providerCode ?? null,
    completedAt: at,
  }
  return writeChange(tx, deps, payment, change, {
    actor,
    balance: await balanceUpdated(tx, deps, payment.accountId, balance),
    ...(failure && { after: { failure_code: failure.code, provider_code: failure.providerCode } }),
  })
}
