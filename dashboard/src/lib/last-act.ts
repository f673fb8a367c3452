import type { Schemas } from '../api/queries.ts'
import { shortMoney } from './money.ts'
import { statusText } from './words.ts'

/** What an agent did last, in words, and when. */
export type LastAct = { words: string; at: string }

const ofPayment = ({ status, amount_minor: amount, currency, beneficiary, created_at: at }: Schemas['Payment']): LastAct => {
  const what = `${shortMoney(amount, currency)} to ${beneficiary.display_name}`
  return { at, words: status === 'succeeded' ? `Paid ${what}` : `Requested ${what} (${statusText(status).toLowerCase()})` }
}

const ofRefusal = ({ amount_minor: amount, currency, beneficiary, created_at: at }: Schemas['RefusedPayment']): LastAct => ({
  at,
  words: `Was refused ${shortMoney(amount, currency)} ${beneficiary ? `to ${beneficiary.display_name}` : 'in a list'}`,
})

/** Of two lists, newest first. */
export const lastActOf = (
  grantId: string,
  payments: readonly Schemas['Payment'][],
  refusals: readonly Schemas['RefusedPayment'][],
): LastAct | undefined => {
  const payment = payments.find(({ initiated_by: by }) => by.grant_id === grantId)
  const refusal = refusals.find(({ initiated_by: by }) => by.grant_id === grantId)
  const acts = [...(payment ? [ofPayment(payment)] : []), ...(refusal ? [ofRefusal(refusal)] : [])]
  return acts.sort((a, b) => Date.parse(b.at) - Date.parse(a.at))[0]
}
