import type { Fields } from './payment-changes.ts'

// An event of an approval leaves out what its rows keep and never change: the two texts that are signed, and the decision that asked for the
// approval. They are four fifths of it.

/** What the rows of an approval and its payment keep. */
export type Kept = { signing: unknown; decision: unknown }

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null
const isSame = (one: unknown, other: unknown): boolean => one === other || JSON.stringify(one) === JSON.stringify(other)

/** The approval with null in place of what is kept. What the rows have otherwise stays in it. */
export const withoutKept = (approval: Fields, { signing, decision }: Kept): Fields => {
  const { payment } = approval
  return {
    ...approval,
    ...(isFields(payment) && isSame(payment.decision, decision) && { payment: { ...payment, decision: null } }),
    ...(isSame(approval.signing, signing) && { signing: null }),
  }
}

/** The approval as it was published. */
export const withKept = (approval: Fields, { signing, decision }: Kept): Fields => {
  const { payment } = approval
  return {
    ...approval,
    ...(isFields(payment) && payment.decision === null && { payment: { ...payment, decision } }),
    ...(approval.signing === null && { signing }),
  }
}
