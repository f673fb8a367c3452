import { and, eq } from 'drizzle-orm'
import { first, type Joint, statement, type Tx } from '../../db/client.ts'
import { bytesList, plainList, textList } from '../../db/lists.ts'
import { prepare } from '../../db/prepare.ts'
import { payees } from '../../db/tables/beneficiaries.ts'
import { referenceKey } from '../../lib/account-reference.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Deps } from './deps.ts'
import type { BeneficiaryRecord } from './queries.ts'
import { fingerprintText, type Payee } from './rules.ts'

type PayeeRow = { id: Uuid; frozenAt: Date | null; paybillFrozenAt?: Date | null }
type Mac = ReturnType<Deps['derivations']['macs']>[number]
/** The account at a paybill that a payee is. */
type Account = { paybill: PayeeRow; referenceKey: string }

const findPayee = prepare('payees.by_fingerprint', { workspaceId: 'uuid', fingerprint: 'bytea' }, (orm, at) =>
  orm
    .select({ id: payees.id, frozenAt: payees.frozenAt })
    .from(payees)
    .where(and(eq(payees.workspaceId, at.workspaceId), eq(payees.fingerprint, at.fingerprint))),
)
// One statement finds them, or makes them. Each is looked up by itself (`offset 0`), as in `payments.state`.
const findOrInsert = statement(
  'payees.ensure',
  `with asked as (
     select n, id, workspace, fingerprints::bytea[] as fingerprints, fingerprint, key_id, paybill, reference
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::text[], $6::uuid[], $7::text[])
       with ordinality as a(id, workspace, fingerprints, fingerprint, key_id, paybill, reference, n)
   ), known as (
     select asked.n, p.* from asked cross join lateral (
       select id, frozen_at from payees where workspace_id = asked.workspace and fingerprint = any(asked.fingerprints) offset 0) as p
   ), made as (
     insert into payees (id, workspace_id, fingerprint, fingerprint_key_id, paybill_id, reference_key, created_at)
     select id, workspace, fingerprint, key_id, paybill, reference, $8 from asked where not exists (select from known where known.n = asked.n)
     on conflict do nothing returning id, frozen_at
   )
   select n::int, id, frozen_at as "frozenAt" from known
   union all select asked.n::int, made.id, made.frozen_at from made join asked on asked.id = made.id`,
)

type Wanted = { workspaceId: Uuid; macs: readonly Mac[]; current: Mac; account: Account | null; at: Date }

/** Those of all lines of a transaction at once. Undefined for one that another transaction made in the meantime. */
const ensured: Joint<Wanted, PayeeRow | undefined> = {
  writes: true,
  ask: async (db, all) => {
    const rows = await db.query<PayeeRow & { n: number }>(findOrInsert, [
      plainList(all.map(() => newId())),
      plainList(all.map(({ workspaceId }) => workspaceId)),
      textList(all.map(({ macs }) => bytesList(macs.map(({ mac }) => mac)))),
      bytesList(all.map(({ current }) => current.mac)),
      textList(all.map(({ current }) => current.keyId)),
      plainList(all.map(({ account }) => account?.paybill.id ?? null)),
      textList(all.map(({ account }) => account?.referenceKey ?? null)),
      all[0]?.at,
    ])
    const byNumber = new Map(rows.map(({ n, id, frozenAt }) => [n, { id, frozenAt }]))
    return all.map((_, place) => byNumber.get(place + 1))
  },
}

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
  const payee = await tx.join(ensured, { workspaceId, macs, current, account, at: tx.at })
  if (payee) return payee
  // Another transaction created it between the search and the insert, and has committed.
  const existing = await first(tx, findPayee, { workspaceId, fingerprint: current.mac })
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
