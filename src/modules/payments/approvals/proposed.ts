import { and, isNull, sql } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { together } from '../../../db/together.ts'
import type { Actor } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { confirmByApproval } from '../../beneficiaries/service.ts'
import { payeeOfLeaf } from '../batch/leaf-rules.ts'
import type { Deps } from '../deps.ts'
import type { LockedApproval } from './queries.ts'

const readProposed = prepare('approvals.proposed_payees', { ids: 'uuid[]' }, (orm, at) =>
  orm
    .select({ id: beneficiaries.id })
    .from(beneficiaries)
    .where(and(sql`${beneficiaries.id} = any(${at.ids})`, isNull(beneficiaries.confirmedAt)))
    .orderBy(beneficiaries.id),
)

const proposedAmong = together<readonly Uuid[], { id: Uuid }[]>(async (db, lists) => {
  const rows = await db.run(readProposed, { ids: [...new Set(lists.flat())] })
  return lists.map((ids) => rows.filter(({ id }) => ids.includes(id)))
})

/** The payees that nobody has confirmed yet. */
export const proposedPayees = (tx: Tx, { payments }: LockedApproval): Promise<{ id: Uuid }[]> =>
  proposedAmong(
    tx,
    payments.map(({ beneficiaryId }) => beneficiaryId),
  )

/** By the names that the approver saw. */
export const confirmPayees = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  actor: Actor,
  { approval, payments }: LockedApproval,
  proposed: readonly { id: Uuid }[],
): Promise<void> => {
  if (proposed.length === 0) return
  const { workspaceId, beneficiaryName } = approval
  const names = new Map(
    payments.map(({ beneficiaryId, batchLeaf }) => [
      beneficiaryId,
      batchLeaf === null ? beneficiaryName : payeeOfLeaf(batchLeaf),
    ]),
  )
  for (const { id } of proposed) await confirmByApproval(tx, deps, actor, { workspaceId, id, name: names.get(id) ?? '' })
}
