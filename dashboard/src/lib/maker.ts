import type { Schemas } from '../api/types.ts'
import { capitalized } from './list-words.ts'

/** Who made something: a person by name, or a key or an agent. */
export const makerText = ({ account_id: account, grant_id: grantId, label }: Schemas['Maker'], people: (id: string) => string) =>
  grantId === null ? capitalized(people(account)) : `${label ?? 'A key or an agent'} (key or agent)`
