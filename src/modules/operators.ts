import { and, eq, sql } from 'drizzle-orm'
import type { Principal } from '../auth/principal.ts'
import { type Db, first, type Tx } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { accounts } from '../db/tables/accounts.ts'
import { balanceAccountsSql, members, workspaces } from '../db/tables/workspaces.ts'
import type { Actor } from '../events/audit.ts'
import { Refusal } from '../lib/errors.ts'
import { formatId, type Uuid } from '../lib/ids.ts'

/** An administrator over HTTP, a person in a shell on the machine (by the user name there), or the service's own jobs. */
export type Operator = Principal | (Extract<Actor, { way: string }> & { accountId: null })

export const shellOperator = (user: string): Operator => ({
  accountId: null,
  way: 'command',
  origin: { ip: null, userAgent: `shell:${user}`, requestId: null },
})

/** The operator of acts that the service performs on its own. */
export const timerOperator: Operator = { accountId: null, way: 'timer', origin: null }

/** The operator of acts that follow from a provider's notification. */
export const deliveryOperator: Operator = { accountId: null, way: 'rail:delivery', origin: null }

/** An operator's name in a record: an account's id, `shell:` and the user's name, or `timer`. */
export const nameOfOperator = (operator: Operator): string =>
  operator.accountId === null ? (operator.origin?.userAgent ?? operator.way) : formatId('account', operator.accountId)

const memberships = prepare('operators.belongs', { operatorId: 'uuid', holderId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: members.id })
    .from(members)
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .where(
      and(
        eq(members.accountId, param.operatorId),
        sql`${param.holderId} in (select * from ${sql.raw(balanceAccountsSql('workspaces'))})`,
      ),
    )
    .limit(1),
)

const named = prepare('accounts.balances_named', { ids: 'uuid[]' }, (orm, param) =>
  orm
    .select({
      id: accounts.id,
      accountId: sql<Uuid>`coalesce(${workspaces.owningAccountId}, ${accounts.id})`,
      workspaceId: accounts.holderOfWorkspaceId,
    })
    .from(accounts)
    .leftJoin(workspaces, eq(workspaces.id, accounts.holderOfWorkspaceId))
    .where(sql`${accounts.id} = any(${param.ids})`),
)

export type BalanceName = { accountId: Uuid; workspaceId: Uuid | null }

/** Maps each balance account to the names that people know: the owning account and, for a team's balance, the team's workspace. */
export const nameBalances = async (db: Db, ids: readonly Uuid[]): Promise<(id: Uuid) => BalanceName> => {
  const names = new Map(
    (ids.length > 0 ? await db.run(named, { ids: [...new Set(ids)] }) : []).map(({ id, ...name }) => [id, name]),
  )
  return (id) => names.get(id) ?? { accountId: id, workspaceId: null }
}

/** Administrators cannot move value or lift limits for themselves, or for the balance of a workspace that they belong to. */
export const refuseOwnAccount = async (tx: Tx, { accountId: operatorId }: Operator, holderId: Uuid): Promise<void> => {
  if (operatorId === null) return
  if (operatorId !== holderId && !(await first(tx, memberships, { operatorId, holderId }))) return
  throw new Refusal('separation_of_duties', {
    message:
      'An administrator decides nothing that costs the organisation or lifts a limit for their own account, or for a workspace that they belong to.',
  })
}
