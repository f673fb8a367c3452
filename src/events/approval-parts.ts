import type { Fields } from './payment-changes.ts'

// An event of an approval may leave out what its rows keep and never change: the two texts that are signed, and the decision that asked for the
// approval. They are four fifths of it. Version 0.2.0, which may run beside this one and after it, would publish such an event with nulls. So this
// version reads it, and a later one writes it (docs/operations.md, what a migration may do).

/** What the rows of an approval and its payment keep. */
type Kept = { signing: unknown; decision: unknown }

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** The approval as it was published; it has null in place of what is kept. */
export const withKept = (approval: Fields, { signing, decision }: Kept): Fields => {
  const { payment } = approval
  return {
    ...approval,
    ...(isFields(payment) && payment.decision === null && { payment: { ...payment, decision } }),
    ...(approval.signing === null && { signing }),
  }
}
