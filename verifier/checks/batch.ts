import { leafHash, provesInclusion } from '../../src/lib/merkle.ts'
import { fromHex } from '../bytes.ts'
import { bad, type Finding, ok } from '../finding.ts'
import type { Receipt } from '../receipt.ts'

/** Whether the leaf describes this payment. Version 1 had no narrative and no purpose. */
const isAbout = ({ payment, beneficiary, batch }: Receipt): boolean => {
  const leaf: Record<string, unknown> = JSON.parse(batch?.leaf ?? '{}')
  return (
    leaf.type === 'payment_batch_item' &&
    leaf.index === batch?.index &&
    leaf.payee === payment.beneficiary.display_name &&
    leaf.rail === payment.payment_rail &&
    leaf.destination_mask === beneficiary.destination_mask &&
    leaf.amount_minor === payment.amount_minor &&
    leaf.currency === payment.currency &&
    leaf.account_reference === payment.account_reference &&
    (leaf.version === 1 || (leaf.narrative === payment.narrative && leaf.purpose_code === payment.purpose_code))
  )
}

/** Whether the payment is in the batch, under the Merkle root in the batch's approval. */
export const checkBatch = (receipt: Receipt): Finding[] => {
  const check = 'batch'
  const { batch, payment } = receipt
  if ((batch?.id ?? null) !== payment.batch_id) return [bad(check, 'it is not the one that the payment belongs to')]
  if (!batch) return []
  const root = fromHex(batch.merkle_root)
  const path = batch.path.map((hash) => fromHex(hash) ?? new Uint8Array())
  const { index, items_count: size } = batch
  if (!root || !provesInclusion({ leaf: leafHash(batch.leaf), index, size, path, root }))
    return [bad(check, 'the item is not under the root of the batch')]
  if (!isAbout(receipt)) return [bad(check, 'the item under the root is another payment')]
  return [ok(check, `item ${index + 1} of ${size} under the root ${batch.merkle_root}`)]
}
