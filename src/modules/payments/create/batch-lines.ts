import { sql } from 'drizzle-orm'
import { prepare } from '../../../db/prepare.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { assertPresent } from '../../../lib/lists.ts'
import { isBeingChecked } from '../../beneficiaries/payee-queries.ts'
import type { CreationDeps } from '../../beneficiaries/service.ts'
import { presentWarning } from '../../policies/present.ts'
import type { BatchLine } from '../approvals/message.ts'
import { destinationDigestOf } from '../approvals/request.ts'
import { leafText } from '../batch/leaf-rules.ts'
import type { Accepted } from './decide.ts'

export const payeesOf = prepare('payment_batches.payees', { ids: 'uuid[]' }, (orm, param) =>
  orm.select().from(beneficiaries).where(sql`${beneficiaries.id} = any(${param.ids})`),
)
export type PayeeRow = typeof beneficiaries.$inferSelect

/** An item as its approval shows it, and as the batch's Merkle tree binds it. */
export const lineOf = (
  deps: CreationDeps,
  { payment, decision, lastAmountMinor }: Accepted,
  { payees, nonce, index }: { payees: ReadonlyMap<Uuid, PayeeRow>; nonce: string; index: number },
): { line: BatchLine; leaf: string } => {
  const payee = assertPresent(payees.get(payment.beneficiaryId), 'an accepted payment has no beneficiary')
  const { beneficiaryId, payeeId, rail, amountMinor } = payment
  const { displayName: payeeName, destinationMask, verification, reportedName, nameSource } = payee
  const line: BatchLine = {
    beneficiaryId,
    payeeId,
    payeeName,
    rail,
    amountMinor,
    destinationMask,
    verification,
    reportedName,
    nameSource,
    lastAmountMinor,
    isFirst: lastAmountMinor === null,
    isBeingChecked: isBeingChecked(deps.rails, payee),
    warnings: decision.warnings.map(presentWarning),
  }
  const destinationDigest = destinationDigestOf(deps, nonce, payee)
  return { line, leaf: leafText({ ...payment, index, payeeName, destinationMask, destinationDigest }) }
}
