import type { Clock } from '../lib/clock.ts'
import type { Provider as ProviderName } from '../lib/rail-names.ts'
import type { AddressBook } from './addresses.ts'
import type { Credentials } from './credentials.ts'
import type { Journal } from './journal.ts'
import type { Names } from './names.ts'
import type { Stage } from './perform.ts'
import type { Rules } from './rules.ts'
import type { Tokens } from './tokens.ts'

/** Everything that an endpoint of the sandbox works with. */
export type Provider = Stage & {
  clock: Clock
  credentials: Credentials
  tokens: Readonly<Record<ProviderName, Tokens>>
  rules: Rules
  addresses: AddressBook
  names: Names
  journal: Journal
}
