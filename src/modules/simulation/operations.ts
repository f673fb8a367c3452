import type { OperationTexts } from '../../http/operation-text.ts'

export const simulationOperations = {
  'policies.simulate': {
    summary: 'Simulate a payment',
    text: 'Evaluates a payment for this caller now, and writes nothing: whether it would pass, how many people must approve, which limits apply, possible duplicates, and what would let it pass. With `policy` as if that policy existed as well; with `replay_days` that policy is applied to past payments.',
  },
} satisfies OperationTexts
