import type { Derivations } from '../../auth/vault.ts'
import { statement, type Tx } from '../../db/client.ts'
import { selectRow } from '../../db/select-rows.ts'
import { payees } from '../../db/tables/beneficiaries.ts'
import { referenceKey } from '../../lib/account-reference.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { BeneficiaryRecord } from './queries.ts'
import { fingerprintText, type Payee } from './rules.ts'

type PayeeRow = { id: Uuid; frozenAt: Date | null; paybillFrozenAt?: Date | null }
/** The account at a paybill that a payee is. */
type Account = { paybill: PayeeRow; referenceKey: string }

const findPayee = selectRow('payees.by_fingerprint', payees, ['workspaceId', 'fingerprint'])
/** Nothing where another transaction made it in the meantime. */
const findOrInsert = statement(
  'payees.ensure',
  `with known as (
     select id, frozen_at from payees where workspace_id = $2 and fingerprint = any($3::bytea[])
   ), made as (
     insert into payees (id, workspace_id, fingerprint, fingerprint_key_id, paybill_id, reference_key, created_at)
     select $1, $2, $4, $5, $6, $7, $8 where not exists (select from known)
     on conflict do nothing returning id, frozen_at
   )
   select id, frozen_at as "frozenAt" from known union all select id, frozen_at from made`,
)

/**
 * The payee with this fingerprint, created with its first beneficiary. It is searched under every key of the ring, so a key rotation never
 * splits a payee in two.
 */
const ensureOne = async (
  tx: Tx,
  derivations: Derivations,
  beneficiary: { workspaceId: Uuid; rail: BeneficiaryRecord['paymentRail'] },
  to: Payee,
  account: Account | null,
): Promise<PayeeRow> => {
  const { workspaceId, rail } = beneficiary
  const macs = derivations.macs('fingerprint', fingerprintText(workspaceId, rail, to))
  const [current] = macs
  if (!current) throw new Error('the ring of token secrets is empty')
  const [payee] = await tx.query<PayeeRow>(findOrInsert, [
    newId(),
    workspaceId,
    macs.map(({ mac }) => mac),
    current.mac,
    current.keyId,
    account?.paybill.id ?? null,
    account?.referenceKey ?? null,
    tx.at,
  ])
  if (payee) return payee
  // Another transaction created it between the search and the insert, and has committed.
  const existing = await findPayee(tx, { workspaceId, fingerprint: current.mac })
  if (!existing) throw new Error('a payee that exists cannot be read')
  return existing
}

/** The payee of a destination; for an account at a paybill, the paybill's is there as well. A freeze of the paybill holds for the account. */
export const ensurePayee = async (
  tx: Tx,
  derivations: Derivations,
  beneficiary: { workspaceId: Uuid; rail: BeneficiaryRecord['paymentRail'] },
  to: Payee,
): Promise<PayeeRow> => {
  if (to.accountReference === null) return ensureOne(tx, derivations, beneficiary, to, null)
  const paybill = await ensureOne(tx, derivations, beneficiary, { ...to, accountReference: null }, null)
  const account = { paybill, referenceKey: referenceKey(to.accountReference) }
  const payee = await ensureOne(tx, derivations, beneficiary, to, account)
  return { ...payee, paybillFrozenAt: paybill.frozenAt }
}
