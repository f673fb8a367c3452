import type { Evaluation, Warning } from './types.ts'

/** A payee that was never paid has the name of one that was. */
export const similarNameWarnings = ({ payment: { payee } }: Evaluation): Warning[] =>
  payee.similarTo === null ? [] : [{ code: 'similar_name', ...payee.similarTo }]

/** How many times what the payee usually gets is unusual. */
export const unusualFactor = 5n

export const unusualAmountWarnings = ({ payment: { amountMinor, payee } }: Evaluation): Warning[] =>
  payee.typicalAmountMinor !== null && amountMinor > payee.typicalAmountMinor * unusualFactor
    ? [{ code: 'unusual_amount', typicalAmountMinor: payee.typicalAmountMinor }]
    : []
