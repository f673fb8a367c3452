import type { Schemas } from '../api/types.ts'

type InitiatedBy = Schemas['PaymentSummary']['initiated_by']

/** Who requested a payment: a person by name, or a key or agent and its owner. */
export const requesterWords = ({ label, account_id: account }: InitiatedBy, people: (id: string) => string): string => {
  const person = people(account)
  if (label === null) return person
  return person === 'you' ? `${label}, your agent` : `${label}, ${person}’s agent`
}
