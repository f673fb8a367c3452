import { statement, type Tx } from '../../db/client.ts'
import { referenceKey } from '../../lib/account-reference.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Deps } from './deps.ts'
import type { BeneficiaryRecord } from './queries.ts'
import { fingerprintText, type Payee } from './rules.ts'

type PayeeRow = { id: Uuid; frozenAt: Date | null; paybillFrozenAt?: Date | null }
/** The account at a paybill that a payee is. */
type Account = { paybill: PayeeRow; referenceKey: string }

const found = 'select id, frozen_at as "frozenAt" from payees where workspace_id = $1 and fingerprint = any($2::bytea[])'
const findPayee = statement('payees.by_fingerprint', found)
// One statement finds it, or makes it.
const findOrInsert = statement(
  'payees.ensure',
  `with known as (${found}), made as (
     insert into payees (id, workspace_id, fingerprint, fingerprint_key_id, paybill_id, reference_key, created_at)
     select $3, $1, $4, $5, $6, $7, $8 where not exists (select from known)
     on conflict do nothing returning id, frozen_at as "frozenAt")
   select * from known union all select * from made`,
)

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
  const [current] = macs
  if (!current) throw new Error('the ring of token secrets is empty')
  const [payee] = await tx.query<PayeeRow>(findOrInsert, [
    workspaceId,
    macs.map(({ mac }) => mac),
    newId(),
    current.mac,
    current.keyId,
    account?.paybill.id ?? null,
    account?.referenceKey ?? null,
    tx.at,
  ])
  if (payee) return payee
  // Another transaction created it between the search and the insert, and has committed.
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
