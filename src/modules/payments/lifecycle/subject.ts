import { statement, type Tx } from '../../../db/client.ts'
import { lockBalance } from '../../../ledger/ledger.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { findBeneficiary } from '../../beneficiaries/queries.ts'
import { destinationContext } from '../../beneficiaries/service.ts'
import { lockPayment, ownerOfPayment } from '../queries.ts'
import { tryOpen } from './attempts/callback-secret.ts'
import { type AttemptSubject, notSent } from './attempts/subject.ts'
import { settlePayment } from './outcome.ts'
import { recheckPayment } from './recheck.ts'
import { releasePayment } from './release.ts'

const setDue = statement('payments.set_due', 'update payments set dispatch_due_at = $2 where id = $1')

const lock = async (tx: Tx, id: Uuid): Promise<void> => {
  const ownerId = await ownerOfPayment(tx, id)
  if (!ownerId) throw new Error('a payment that must exist is missing')
  await lockBalance(tx, ownerId)
}

/** How a payment is sent. Everything that let it pass is looked at once more; what stands no more fails it, and nothing was sent. */
export const paymentSubject: AttemptSubject = {
  lock,
  setDue: async (tx, id, at) => void (await tx.query(setDue, [id, at])),
  prepare: async (tx, deps, id) => {
    const payment = await lockPayment(tx, id)
    if (payment.status !== 'processing') return null
    const failure = await recheckPayment(tx, deps, payment)
    if (failure) {
      await releasePayment(tx, deps, payment, 'failed', { accountId: null, origin: null, way: 'dispatch' }, failure)
      return null
    }
    const beneficiary = await findBeneficiary(tx, payment.workspaceId, payment.beneficiaryId)
    if (!beneficiary) throw new Error('a payment has no beneficiary')
    const { amountMinor, currency, accountReference, narrative, rail: name } = payment
    const { bankCode, legalName, displayName, destinationCiphertext, destinationKeyId } = beneficiary
    return {
      rail: name,
      amountMinor,
      send: async (sending) => {
        const rail = deps.rails.payout[name]
        if (!rail) return notSent('provider_not_configured')
        const sealed = { ciphertext: destinationCiphertext, keyId: destinationKeyId }
        const destination = tryOpen(deps, sealed, destinationContext(beneficiary.id, beneficiary.workspaceId))
        if (destination === undefined) return notSent('destination_unreadable')
        const beneficiaryName = legalName ?? displayName
        return rail.pay({
          ...sending,
          rail: name,
          amountMinor,
          currency,
          destination,
          bankCode,
          beneficiaryName,
          accountReference,
          narrative,
        })
      },
    }
  },
  settle: settlePayment,
}
