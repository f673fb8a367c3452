import { askSigner, type ContractWallets } from '../../auth/contract-wallet.ts'
import type { Database, Db, Tx } from '../../db/client.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import type { MandateRules, MandateSignatureStatus } from '../../policy/types.ts'
import { findMandate, lockMandate, type MandateRecord } from './queries.ts'

/** The mandate's rules for the policy engine, and the signature that counts as its signer's approval. */
export type PaymentMandate = {
  rules: MandateRules
  signature: { accountId: Uuid; signer: string; signature: string; message: string }
}

/** `counted`: the amount of a payment that the mandate already counts. The rules then exclude that payment. */
const forPayment = (mandate: MandateRecord, counted?: Minor): PaymentMandate => {
  const { accountId, signer, signature, message } = mandate
  const { id, workspaceId, grantId, maxTotalMinor, maxPerPaymentMinor, maxPayments, beneficiaryIds, paymentTypes } = mandate
  const isCounted = counted !== undefined
  const rules: MandateRules = {
    id,
    name: mandate.description,
    // The expiry does not stop a payment that was created before it, but a revocation does.
    status: isCounted && mandate.status === 'expired' ? 'active' : mandate.status,
    signerAccountId: accountId,
    ...{ workspaceId, grantId, maxTotalMinor, maxPerPaymentMinor, maxPayments, beneficiaryIds, paymentTypes },
    validFrom: mandate.validFrom,
    expiresAt: mandate.expiresAt,
    spentMinor: mandate.spentMinor - (counted ?? 0n),
    paymentsMade: mandate.paymentsMade - (isCounted ? 1 : 0),
    standing: 'holds',
  }
  return { rules, signature: { accountId, signer, signature, message } }
}

/**
 * Whether the contract wallet that signed the mandate still accepts the signature. Called before the transaction, because chains
 * are slow. Returns `holds` without a query if there is no such mandate, or if a wallet with its own key signed it.
 */
export const checkMandateSignature = async (
  db: Database,
  contractWallets: ContractWallets,
  workspaceId: Uuid,
  id: Uuid | null | undefined,
): Promise<MandateSignatureStatus> => {
  const mandate = id == null ? undefined : await findMandate(db, id, workspaceId)
  const answer = mandate ? await askSigner(contractWallets, mandate) : null
  return ({ valid: 'holds', invalid: 'refused', unanswered: 'unanswered' } as const)[answer ?? 'valid']
}

/** For readers and simulations: locks nothing. */
export const readMandate = async (db: Db, workspaceId: Uuid, id: Uuid, counted?: Minor): Promise<PaymentMandate | undefined> => {
  const mandate = await findMandate(db, id, workspaceId)
  return mandate && forPayment(mandate, counted)
}

/**
 * Locks the mandate last, after the paying account, which guards its counter. `counted`: the amount of a payment that is
 * rechecked before it is sent. Undefined if the workspace has no such mandate.
 */
export const loadMandate = async (tx: Tx, workspaceId: Uuid, id: Uuid, counted?: Minor): Promise<PaymentMandate | undefined> => {
  const mandate = await lockMandate(tx, id, workspaceId)
  return mandate && forPayment(mandate, counted)
}
