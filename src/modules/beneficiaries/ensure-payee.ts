import type { Tx } from '../../db/client.ts'
import { payees } from '../../db/tables/beneficiaries.ts'
import { referenceKey } from '../../lib/account-reference.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Deps } from './deps.ts'
import type { BeneficiaryRecord } from './queries.ts'
import { fingerprintText, type Payee } from './rules.ts'

type PayeeRow = { id: Uuid; frozenAt: Date | null; paybillFrozenAt?: Date | null }
/** The account at a paybill that a payee is. */
type Account = { paybill: PayeeRow; referenceKey: string }

const findPayee = 'select id, frozen_at as "frozenAt" from payees where workspace_id = $1 and fingerprint = any($2::bytea[])'

/**
 * The payee with this fingerprint, created with its first beneficiary. It is searched under every key of the ring, so a key rotation never
 * splits a payee in two.
 */
const ensureOne = async (
  tx: Tx,
  deps: Pick<Deps, 'derivations'>,
  beneficiary: { workspaceId: Uuid; rail: BeneficiaryRecord['paymentRail'] },
  to: Payee,
  account: Account | null,
): Promise<PayeeRow> => {
  const { workspaceId, rail } = beneficiary
  const macs = deps.derivations.macs('fingerprint', fingerprintText(workspaceId, rail, to))
  const [known] = await tx.query<PayeeRow>(findPayee, [workspaceId, macs.map(({ mac }) => mac)])
  if (known) return known
  const [current] = macs
  if (!current) throw new Error('the ring of token secrets is empty')
  const row = {
    id: newId(),
    workspaceId,
    fingerprint: current.mac,
    fingerprintKeyId: current.keyId,
    paybillId: account?.paybill.id ?? null,
    referenceKey: account?.referenceKey ?? null,
    createdAt: tx.at,
  }
  const [created] = await tx.orm
    .insert(payees)
    .values(row)
    .onConflictDoNothing()
    .returning({ id: payees.id, frozenAt: payees.frozenAt })
  if (created) return created
  // Another transaction created it between the read and the insert, and has committed.
  const [existing] = await tx.query<PayeeRow>(findPayee, [workspaceId, [current.mac]])
  if (!existing) throw new Error('a payee that exists cannot be read')
  return existing
}

/** The payee of a destination; for an account at a paybill, the paybill's is there as well. A freeze of the paybill holds for the account. */
export const ensurePayee = async (
  tx: Tx,
  deps: Pick<Deps, 'derivations'>,
  beneficiary: { workspaceId: Uuid; rail: BeneficiaryRecord['paymentRail'] },
  to: Payee,
): Promise<PayeeRow> => {
  if (to.accountReference === null) return ensureOne(tx, deps, beneficiary, to, null)
  const paybill = await ensureOne(tx, deps, beneficiary, { ...to, accountReference: null }, null)
  const account = { paybill, referenceKey: referenceKey(to.accountReference) }
  const payee = await ensureOne(tx, deps, beneficiary, to, account)
  return { ...payee, paybillFrozenAt: paybill.frozenAt }
}
