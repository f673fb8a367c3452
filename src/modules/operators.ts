import { and, eq } from 'drizzle-orm'
import type { Principal } from '../auth/principal.ts'
import { first, type Tx } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { members, workspaces } from '../db/tables/workspaces.ts'
import type { Actor } from '../events/audit.ts'
import { Refusal } from '../lib/errors.ts'
import { formatId, type Uuid } from '../lib/ids.ts'

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

const memberships = prepare('operators.belongs', { operatorId: 'uuid', owningAccountId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: members.id })
    .from(members)
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .where(and(eq(members.accountId, at.operatorId), eq(workspaces.owningAccountId, at.owningAccountId)))
    .limit(1),
)

/** Administrators move no value and lift no limit for themselves, or for an account whose workspace they belong to. */
export const refuseOwnAccount = async (tx: Tx, { accountId: operatorId }: Operator, owningAccountId: Uuid): Promise<void> => {
  if (operatorId === null) return
  if (operatorId !== owningAccountId && !(await first(tx, memberships, { operatorId, owningAccountId }))) return
  throw new Refusal('separation_of_duties', {
    message:
      'An administrator decides nothing that costs the organisation or lifts a limit for their own account, or for a workspace that they belong to.',
  })
}
