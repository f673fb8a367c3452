import type { Schemas } from '../api/queries.ts'
import { capitalized } from './words.ts'

type InitiatedBy = Schemas['PaymentSummary']['initiated_by']

/** Who requested a payment: a person by name, or a key or agent and its owner. */
export const requesterWords = ({ label, account_id: account }: InitiatedBy, people: (id: string) => string): string => {
  const person = people(account)
  if (label === null) return person
  return person === 'you' ? `${label}, your agent` : `${label}, ${person}’s agent`
}

/** Who made something: a person by name, or a key or an agent. */
export const makerText = ({ account_id: account, grant_id: grantId, label }: Schemas['Maker'], people: (id: string) => string) =>
  grantId === null ? capitalized(people(account)) : `${label ?? 'A key or an agent'} (key or agent)`
