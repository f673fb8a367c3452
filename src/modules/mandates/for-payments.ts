import { grantIsFrozen, sharesOrigin } from '../../auth/authority-sql.ts'
import { type ContractWallets, verifyContractSigner } from '../../auth/contract-wallet.ts'
import { type Database, type Db, statement, type Tx } from '../../db/client.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import type { MandateRules, MandateSignatureStatus } from '../../policy/types.ts'
import { findMandate, lockMandate, type MandateRecord } from './queries.ts'

/** The mandate's rules for the policy engine, and the signature that counts as its signer's approval. */
export type PaymentMandate = {
  rules: MandateRules
  signature: { accountId: Uuid; signer: string; signature: string; message: string }
}

/**
 * Whether the wallet that signed the mandate approves nothing for a requester: it comes from the same lineage, so that a key
 * could approve its own payments, or from a grant that is now frozen.
 */
const readSigner = statement('mandates.signer')`
  select coalesce((select ${grantIsFrozen('g')} from grants g where g.id = i.linked_by_grant_id), false)
     or ${sharesOrigin('select i.linked_by_grant_id', 'select $3::uuid')} as "isExcluded"
   from identities i where i.provider = 'wallet' and i.account_id = $1 and i.subject_key = lower($2)`

/** Undefined if the wallet is no longer linked to the account. `requester`: the grant behind the requester; null: none. */
const signerOf = async (db: Db, { accountId, signer }: MandateRecord, requester: Uuid | null) =>
  (await db.query<{ isExcluded: boolean }>(readSigner, [accountId, signer, requester]))[0]

/** `counted`: the amount of a payment that the mandate already counts, which the rules exclude. Null: it counts none. */
type MandateUse = { requester: Uuid | null; counted: Minor | null }

const forPayment = async (db: Db, mandate: MandateRecord, { requester, counted }: MandateUse): Promise<PaymentMandate> => {
  const linked = await signerOf(db, mandate, requester)
  const { accountId, signer, signature, message } = mandate
  const { id, workspaceId, grantId, maxTotalMinor, maxPerPaymentMinor, maxPayments, beneficiaryIds, paymentTypes } = mandate
  const isCounted = counted !== null
  const rules: MandateRules = {
    id,
    name: mandate.description,
    // The expiry does not stop a payment that was created before it, but a revocation does.
    status: !linked ? 'revoked' : isCounted && mandate.status === 'expired' ? 'active' : mandate.status,
    signerAccountId: accountId,
    ...{ workspaceId, grantId, maxTotalMinor, maxPerPaymentMinor, maxPayments, beneficiaryIds, paymentTypes },
    validFrom: mandate.validFrom,
    expiresAt: mandate.expiresAt,
    spentMinor: mandate.spentMinor - (counted ?? 0n),
    paymentsMade: mandate.paymentsMade - (isCounted ? 1 : 0),
    standing: linked?.isExcluded ? 'excluded' : 'holds',
  }
  return { rules, signature: { accountId, signer, signature, message } }
}

/**
 * Whether the signature counts for this requester. Called before the transaction, because the chain of a contract wallet is
 * slow, and because requests that are decided together may name one mandate. The origin of a linked wallet never changes.
 */
export const checkMandateSignature = async (
  { contractWallets, db }: { contractWallets: ContractWallets; db: Database },
  id: Uuid | null | undefined,
  { workspaceId, requester }: { workspaceId: Uuid; requester: Uuid | null },
): Promise<MandateSignatureStatus> => {
  const mandate = id == null ? undefined : await findMandate(db, id, workspaceId)
  if (!mandate) return 'holds'
  const [answer, linked] = await Promise.all([verifyContractSigner(contractWallets, mandate), signerOf(db, mandate, requester)])
  if (answer === 'invalid') return 'refused'
  return linked?.isExcluded ? 'excluded' : answer === 'unanswered' ? 'unanswered' : 'holds'
}

/** For readers and simulations: locks nothing. */
export const readMandate = async (db: Db, workspaceId: Uuid, id: Uuid, use: MandateUse): Promise<PaymentMandate | undefined> => {
  const mandate = await findMandate(db, id, workspaceId)
  return mandate && forPayment(db, mandate, use)
}

/**
 * Locks the mandate last, after the paying account, which guards its counter. `counted`: the amount of a payment that is
 * rechecked before it is sent. Undefined if the workspace has no such mandate.
 */
export const loadMandate = async (tx: Tx, workspaceId: Uuid, id: Uuid, use: MandateUse): Promise<PaymentMandate | undefined> => {
  const mandate = await lockMandate(tx, id, workspaceId)
  return mandate && forPayment(tx, mandate, use)
}
