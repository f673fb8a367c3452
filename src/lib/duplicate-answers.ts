/** What a policy does with a payment that looks like an earlier one, from mild to strict. */
export const duplicateAnswers = ['warn', 'require_approval', 'deny'] as const
export type DuplicateAnswer = (typeof duplicateAnswers)[number]
