import type { Schemas } from '../../api/types.ts'

export type Difference = Schemas['ReconciliationDifference']
export type SuspenseItem = Schemas['SuspenseItem']

/** What is resolved at once: money in suspense, a difference, or a line that is both. */
export type OpenItem = { key: string; suspense: SuspenseItem | null; difference: Difference | null }

const isOf =
  ({ provider_receipt: receipt }: SuspenseItem) =>
  ({ kind, provider_receipt: listed }: Difference): boolean =>
    kind === 'not_in_our_books' && receipt !== null && listed === receipt

/** A line of a statement that the books do not have is a difference and money in suspense: one item, shown once. */
export const openItems = (
  suspense: readonly SuspenseItem[],
  differences: readonly Difference[],
): { inSuspense: OpenItem[]; others: OpenItem[] } => {
  const inSuspense = suspense.map((item) => ({ key: item.id, suspense: item, difference: differences.find(isOf(item)) ?? null }))
  const shown = new Set(inSuspense.map(({ difference }) => difference?.id))
  const others = differences
    .filter(({ id }) => !shown.has(id))
    .map((difference) => ({ key: difference.id, suspense: null, difference }))
  return { inSuspense, others }
}
