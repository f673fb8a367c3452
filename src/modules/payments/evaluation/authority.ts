import { currentDecisions, lostBy } from '../../../auth/authority-sql.ts'
import { type Db, statement } from '../../../db/client.ts'
import { plainList } from '../../../db/lists.ts'
import type { Uuid } from '../../../lib/ids.ts'

/** What was asked for an approval, and the accounts whose approval of it holds now. */
export type GivenAuthority = { required: number; approvers: Uuid[] }

const read = statement(
  'payments.given_authority',
  `select a.id, a.required_approvals as required,
     array(select d.account_id from ${currentDecisions('a.id')} as d where d.decision = 'approve' and ${lostBy('d', 'p')} is null) as approvers
   from approvals a join payments p on p.id = a.payment_id where a.id = any($1::uuid[])`,
)

/**
 * The approvals that hold at this moment: their accounts may still decide, their wallets are linked, their mandates were not revoked. The
 * caller holds the owning accounts' locks: what takes any of this away locks them too.
 */
export const readGivenAuthority = async (db: Db, approvalIds: readonly Uuid[]): Promise<ReadonlyMap<Uuid, GivenAuthority>> => {
  if (approvalIds.length === 0) return new Map()
  const rows = await db.query<GivenAuthority & { id: Uuid }>(read, [plainList(approvalIds)])
  return new Map(rows.map(({ id, ...given }) => [id, given]))
}
