import type { Tx } from '../../db/client.ts'
import { prepareInsert } from '../../db/prepare-write.ts'
import { adjustments } from '../../db/tables/adjustments.ts'
import { type Actor, audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import { nameOfOperator, type Operator } from '../operators.ts'
import type { Deps } from './deps.ts'
import { presentAdjustment } from './present.ts'
import type { AdjustmentRecord } from './queries.ts'

const insertRow = prepareInsert('adjustments.insert', adjustments)

type AdjustmentStep = { action: AuditAction; adjustment: AdjustmentRecord; reason?: string | undefined }

export const auditAdjustment = (tx: Tx, actor: Actor, { action, adjustment, reason }: AdjustmentStep): Promise<void> =>
  audit(tx, actor, tx.at, {
    action,
    workspaceId: null,
    subject: { type: 'ledger', id: adjustment.id },
    after: { ...presentAdjustment(adjustment), ...(reason !== undefined && { rejected_because: reason }) },
  })

type NewAdjustment = Pick<AdjustmentRecord, 'id' | 'kind' | 'accountId' | 'paymentId' | 'amountMinor' | 'reason'>

/** Records what an administrator asks for; nothing is decided. */
export const insertAdjustment = async (
  tx: Tx,
  { config }: Pick<Deps, 'config'>,
  operator: Operator,
  asked: NewAdjustment,
): Promise<AdjustmentRecord> => {
  const adjustment: AdjustmentRecord = {
    ...asked,
    status: 'pending',
    currency: config.CURRENCY,
    requestedBy: nameOfOperator(operator),
    decidedBy: null,
    transferId: null,
    createdAt: tx.at,
    decidedAt: null,
  }
  insertRow(tx, adjustment)
  await auditAdjustment(tx, operator, { action: 'admin.adjustment_request', adjustment })
  return adjustment
}
