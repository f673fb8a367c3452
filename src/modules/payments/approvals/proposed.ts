import { and, isNull, sql } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import type { Actor } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { confirmByApproval } from '../../beneficiaries/service.ts'
import { payeeOfLeaf } from '../batch/leaf-rules.ts'
import type { LockedApproval } from './lock.ts'

const readProposed = prepare('approvals.proposed_payees', { ids: 'uuid[]' }, (orm, at) =>
  orm
    .select({ id: beneficiaries.id })
    .from(beneficiaries)
    .where(and(sql`${beneficiaries.id} = any(${at.ids})`, isNull(beneficiaries.confirmedAt)))
    .orderBy(beneficiaries.id),
)

/** The payees that nobody has confirmed yet. */
export const proposedPayees = async (tx: Tx, { approval, beneficiary, payments }: LockedApproval): Promise<{ id: Uuid }[]> => {
  if (approval.batchId === null) return beneficiary.confirmedAt ? [] : [beneficiary]
  return tx.run(readProposed, { ids: [...new Set(payments.map(({ beneficiaryId }) => beneficiaryId))] })
}

/** By the names that the approver saw. */
export const confirmPayees = async (
  tx: Tx,
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
  for (const { id } of proposed) await confirmByApproval(tx, actor, { workspaceId, id, name: names.get(id) ?? '' })
}
