import type { Principal } from '../auth/principal.ts'
import type { Actor } from '../events/audit.ts'
import { formatId } from '../lib/ids.ts'

/** An administrator over HTTP, or a person at a shell of the machine, who is known by their user name there. */
export type Operator = Principal | (Extract<Actor, { way: string }> & { accountId: null })

export const shellOperator = (user: string): Operator => ({
  accountId: null,
  way: 'command',
  origin: { ip: null, userAgent: `shell:${user}`, requestId: null },
})

/** How a record names its operator: an account's id, or `shell:` and the user's name. */
export const nameOfOperator = (operator: Operator): string =>
  operator.accountId === null ? (operator.origin?.userAgent ?? 'shell') : formatId('account', operator.accountId)
