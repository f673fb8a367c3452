import type { Schemas } from '../api/types.ts'

type InitiatedBy = Schemas['Approval']['payment']['initiated_by']

/** Who asked for a payment: a person by name, or a key or agent and whose it is. */
export const askerWords = ({ label, account_id: account }: InitiatedBy, people: (id: string) => string): string => {
  const person = people(account)
  if (label === null) return person
  return person === 'you' ? `${label}, your agent` : `${label}, ${person}’s agent`
}
