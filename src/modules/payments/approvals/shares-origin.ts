import { originsOf } from '../../../auth/authority-sql.ts'
import { statement, type Tx } from '../../../db/client.ts'
import { plainList } from '../../../db/lists.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { ApprovalRecord } from './queries.ts'

const readSharesOrigin = statement(
  'approvals.shares_origin',
  `with recursive ${originsOf('deciding', 'select unnest($1::uuid[])')}, ${originsOf('asking', 'select unnest($2::uuid[])')}
   select exists (select from deciding join asking using (id)) as shares`,
)

const idsOf = (...ids: (Uuid | null)[]): string => plainList(ids.filter((id) => id !== null))

/**
 * Whether a decision comes from where the request came from: the same lineage of grants, a session that began with a wallet that the lineage
 * linked, or that wallet itself. Otherwise an agent could let a sub-agent approve, or approve by a wallet that it linked for this.
 */
export const sharesOrigin = async (
  tx: Tx,
  { approval, payment }: ApprovalRecord,
  grantBehindDecision: Uuid | null,
): Promise<boolean> => {
  const asking = idsOf(payment.grantId, approval.initiatingGrantId)
  if (grantBehindDecision === null || asking === plainList([])) return false
  const [row] = await tx.query<{ shares: boolean }>(readSharesOrigin, [idsOf(grantBehindDecision), asking])
  return row?.shares ?? true
}
