import { canonicalJson } from '../../../lib/canonical.ts'
import { leafHash, rootOf, treeOf } from '../../../lib/merkle.ts'
import { formatMinor } from '../../../lib/money.ts'
import type { PaymentRecord } from '../queries.ts'

/** A payment as the batch's Merkle tree binds it. `destinationDigest`: a keyed digest that does not reveal the destination. */
type Leaf = Pick<PaymentRecord, 'rail' | 'amountMinor' | 'currency' | 'accountReference' | 'narrative' | 'purposeCode'> & {
  index: number
  payeeName: string
  destinationMask: string
  destinationDigest: string
}

/** Format version of new leaves. Version 1 had no narrative or purpose. A batch is verified with the leaves of its creation. */
export const leafVersion = 2

/** Canonical JSON (RFC 8785). The leaf's `type` distinguishes it from leaves of other trees. */
export const leafText = (leaf: Leaf): string =>
  canonicalJson({
    type: 'payment_batch_item',
    version: leafVersion,
    index: leaf.index,
    payee: leaf.payeeName,
    rail: leaf.rail,
    destination_mask: leaf.destinationMask,
    destination_digest: leaf.destinationDigest,
    amount_minor: formatMinor(leaf.amountMinor),
    currency: leaf.currency,
    account_reference: leaf.accountReference,
    narrative: leaf.narrative,
    purpose_code: leaf.purposeCode,
  })

export const payeeOfLeaf = (leaf: string): string => String((JSON.parse(leaf) as { payee: unknown }).payee)

/** The Merkle root of the leaves in order, in hexadecimal. */
export const rootOfLeaves = (leaves: readonly string[]): string =>
  Buffer.from(rootOf(leaves.length, treeOf(leaves.map((leaf) => leafHash(leaf))))).toString('hex')
