import { statement } from '../../../db/client.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { RailName } from '../../../lib/rail-names.ts'
import type { NameSource, VerificationStatus } from '../../../lib/verification.ts'
import { destinationContext } from '../../beneficiaries/destination-context.ts'
import type { BatchLine } from '../approvals/batch-message.ts'
import { leafText } from '../batch/leaf-rules.ts'
import type { Deps } from '../deps.ts'
import { isBeingChecked } from '../evaluation/payee-facts.ts'
import type { Accepted } from './decide.ts'

export type PayeeRow = {
  id: Uuid
  workspaceId: Uuid
  name: string
  rail: RailName
  nameCheckDueAt: Date | null
  mask: string
  ciphertext: Buffer
  keyId: string
  lastAmountMinor: Minor | null
  reportedName: string | null
  nameSource: NameSource | null
  verification: VerificationStatus
}

/** Who is paid, and what was paid to the same destination the last time. */
export const readPayees = statement(
  'payment_batches.payees',
  `select b.id, b.workspace_id as "workspaceId", b.display_name as name, b.payment_rail as rail, b.name_check_due_at as "nameCheckDueAt", b.destination_mask as mask, b.destination_ciphertext as ciphertext,
     b.destination_key_id as "keyId", b.reported_name as "reportedName", b.name_source as "nameSource", b.verification,
     (select p.amount_minor from payments p where p.payee_id = any(array[b.payee_id]) and p.status in ${paidPaymentsSql} order by p.payee_id desc, p.id desc limit 1) as "lastAmountMinor"
   from beneficiaries b where b.id = any($1::uuid[])`,
)

/** An item as the Merkle tree binds it, and as the text of the approval names it. */
export const lineOf = (
  deps: Pick<Deps, 'derivations' | 'rails' | 'vault'>,
  { payment, decision }: Accepted,
  { payees, nonce, index }: { payees: ReadonlyMap<Uuid, PayeeRow>; nonce: string; index: number },
): { line: BatchLine; leaf: string } => {
  const payee = payees.get(payment.beneficiaryId)
  if (!payee) throw new Error('an accepted payment has no beneficiary')
  const sealed = { ciphertext: payee.ciphertext, keyId: payee.keyId }
  const destination = deps.vault.open(sealed, destinationContext(payee.id, payee.workspaceId))
  const line: BatchLine = {
    beneficiaryId: payment.beneficiaryId,
    payeeName: payee.name,
    rail: payment.rail,
    destinationMask: payee.mask,
    amountMinor: payment.amountMinor,
    isBeingChecked: isBeingChecked(deps.rails, { ...payee, paymentRail: payee.rail }),
    isFirst: payee.lastAmountMinor === null,
    lastAmountMinor: payee.lastAmountMinor,
    reportedName: payee.reportedName,
    nameSource: payee.nameSource,
    verification: payee.verification,
    warnings: decision.warnings,
  }
  const { currency, accountReference, narrative, purposeCode } = payment
  const destinationDigest = deps.derivations.mac('destination-digest', `${nonce}:${destination}`).toString('hex')
  return { line, leaf: leafText({ ...line, index, destinationDigest, currency, accountReference, narrative, purposeCode }) }
}
