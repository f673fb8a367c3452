import { statement, type Tx } from '../../../db/client.ts'
import { plainList } from '../../../db/lists.ts'
import type { Actor } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { confirmByApproval } from '../../beneficiaries/service.ts'
import { payeeOfLeaf } from '../batch/leaf-rules.ts'
import type { Deps } from '../deps.ts'
import type { LockedApproval } from './queries.ts'

const readProposed = statement(
  'approvals.proposed_payees',
  'select id from beneficiaries where id = any($1::uuid[]) and confirmed_at is null order by id',
)

/** The payees that nobody has confirmed yet. */
export const proposedPayees = (tx: Tx, { payments }: LockedApproval): Promise<{ id: Uuid }[]> =>
  tx.query<{ id: Uuid }>(readProposed, [plainList([...new Set(payments.map(({ beneficiaryId }) => beneficiaryId))])])

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
