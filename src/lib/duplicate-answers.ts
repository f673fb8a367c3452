/** What a payment gets that looks like an earlier one, from mild to strict. `confirm`: it must name the earlier one, to say that it is meant. */
export const duplicateAnswers = ['warn', 'confirm', 'require_approval', 'deny'] as const
export type DuplicateAnswer = (typeof duplicateAnswers)[number]
