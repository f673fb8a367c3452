/** What a payment gets whose payee a key or an agent created or renamed, and no person has confirmed; from mild to strict. */
export const newPayeeAnswers = ['allow', 'require_approval', 'deny'] as const
export type NewPayeeAnswer = (typeof newPayeeAnswers)[number]
