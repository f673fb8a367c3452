/** What a payment gets whose payee's name the rail has not confirmed, from mild to strict. */
export const payeeVerificationAnswers = ['off', 'warn', 'require_approval', 'deny'] as const
export type PayeeVerificationAnswer = (typeof payeeVerificationAnswers)[number]
