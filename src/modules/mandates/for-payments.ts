import type { ContractWallets } from '../../auth/contract-wallet.ts'
import { parseAddress } from '../../auth/wallet.ts'
import type { Database, Db, Tx } from '../../db/client.ts'
import { notFound } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import { parseWalletName } from '../../lib/wallet-name.ts'
import type { MandateRules, MandateStanding } from '../../policy/types.ts'
import { findMandateIn, lockMandate, type MandateRecord } from './queries.ts'

/** What the policy engine compares a payment with, and the signature that counts as its signer's approval. */
export type PaymentMandate = {
  rules: MandateRules
  signature: { accountId: Uuid; signer: string; signature: string; message: string }
}

const rulesOf = (mandate: MandateRecord): MandateRules => ({
  id: mandate.id,
  name: mandate.description,
  status: mandate.status,
  signerAccountId: mandate.accountId,
  workspaceId: mandate.workspaceId,
  grantId: mandate.grantId,
  maxTotalMinor: mandate.maxTotalMinor,
  maxPerPaymentMinor: mandate.maxPerPaymentMinor,
  maxPayments: mandate.maxPayments,
  beneficiaryIds: mandate.beneficiaryIds,
  paymentTypes: mandate.paymentTypes,
  validFrom: mandate.validFrom,
  expiresAt: mandate.expiresAt,
  spentMinor: mandate.spentMinor,
  paymentsMade: mandate.paymentsMade,
  standing: 'holds',
})

const forPayment = (mandate: MandateRecord): PaymentMandate => {
  const { accountId, signer, signature, message } = mandate
  return { rules: rulesOf(mandate), signature: { accountId, signer, signature, message } }
}

/**
 * Asks the chain of the contract wallet that signed the mandate whether it still accepts the signature: its owners may have changed. Called
 * before the transaction, because a chain takes time. A wallet with a key of its own, or no such mandate, costs no query to a chain.
 */
export const mandateStanding = async (
  db: Database,
  contractWallets: ContractWallets,
  workspaceId: Uuid,
  id: Uuid | null | undefined,
): Promise<MandateStanding> => {
  const mandate = id == null ? undefined : await findMandateIn(db, workspaceId, id)
  const wallet = mandate && parseWalletName(mandate.signer)
  const address = wallet && parseAddress(wallet.address)
  if (!mandate || !address || wallet.chainId === null) return 'holds'
  const { message, signature } = mandate
  const answer = await contractWallets.query({ chainId: wallet.chainId, address, message, signature })
  return ({ valid: 'holds', invalid: 'refused', unanswered: 'unanswered' } as const)[answer]
}

/** As it is without a payment that it already counts. */
const withoutPayment = (mandate: MandateRecord, counted: Minor): PaymentMandate =>
  forPayment({
    ...mandate,
    status: mandate.status === 'expired' ? 'active' : mandate.status,
    spentMinor: mandate.spentMinor - counted,
    paymentsMade: mandate.paymentsMade - 1,
  })

/** For the reader of a payment that the mandate counts: nothing is locked. */
export const readMandateOf = async (db: Db, workspaceId: Uuid, id: Uuid, counted: Minor): Promise<PaymentMandate | undefined> => {
  const mandate = await findMandateIn(db, workspaceId, id)
  return mandate && withoutPayment(mandate, counted)
}

/** For simulations: nothing is locked. */
export const readMandate = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<PaymentMandate> => {
  const mandate = await findMandateIn(db, workspaceId, id)
  if (!mandate) throw notFound('mandate_id')
  return forPayment(mandate)
}

/**
 * Locks the mandate: the last lock of all, after the owning ledger account's, which guards its counter. `counted`: the amount of a payment
 * that it already counts, when the payment is checked once more before it is sent. Such a payment was created within the mandate's time; a
 * mandate that has expired since does not stop it, a revoked one does. Undefined when the workspace has no such mandate.
 */
export const loadMandate = async (tx: Tx, workspaceId: Uuid, id: Uuid, counted?: Minor): Promise<PaymentMandate | undefined> => {
  const mandate = await lockMandate(tx, id)
  if (mandate?.workspaceId !== workspaceId) return undefined
  if (counted === undefined) return forPayment(mandate)
  return withoutPayment(mandate, counted)
}
