import type { Principal } from '../auth/principal.ts'
import type { Actor } from '../events/audit.ts'
import { formatId } from '../lib/ids.ts'

/** An administrator over HTTP, a person in a shell on the machine (identified by the user name there), or the daily job. */
export type Operator = Principal | (Extract<Actor, { way: string }> & { accountId: null })

export const shellOperator = (user: string): Operator => ({
  accountId: null,
  way: 'command',
  origin: { ip: null, userAgent: `shell:${user}`, requestId: null },
})

/** What the service does by itself at a time of day. */
export const timerOperator: Operator = { accountId: null, way: 'timer', origin: null }

/** How a record names its operator: an account's id, `shell:` and the user's name, or `timer`. */
export const nameOfOperator = (operator: Operator): string =>
  operator.accountId === null ? (operator.origin?.userAgent ?? operator.way) : formatId('account', operator.accountId)
