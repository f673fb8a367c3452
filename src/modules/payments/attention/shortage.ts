import { and, eq, gt, lt, lte, sql } from 'drizzle-orm'
import { policyRoles } from '../../../auth/permissions.ts'
import { lockAccount } from '../../../db/account-lock.ts'
import { type Db, inTx, statement } from '../../../db/client.ts'
import { prepare, prepareText } from '../../../db/prepare.ts'
import { insertRows, prepareWrite } from '../../../db/prepare-write.ts'
import { namesSql } from '../../../db/tables/columns.ts'
import { payments } from '../../../db/tables/payments.ts'
import { balanceAccountSql, balanceShortages } from '../../../db/tables/workspaces.ts'
import { appendEvents } from '../../../events/append.ts'
import { presenter } from '../../../http/presenter.ts'
import { balanceIn, getBalance, getBalances } from '../../../ledger/ledger.ts'
import { daysAfter, isoTime, secondsAfter } from '../../../lib/clock.ts'
import { firstId, formatId, type Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/lists.ts'
import { displayAmount, type Minor } from '../../../lib/money.ts'
import { forEachRow, type SweepDeps } from '../../for-each-row.ts'
import { queueMail } from '../../mail/service.ts'
import type { Parts } from '../../parts.ts'
import { BalanceShortage } from './schema.ts'

// A scheduled payment holds no money until it is due, so a balance could be too low without anyone noticing.

const leadHours = [48, 4] as const
const longestSeconds = leadHours[0] * 3600

/** `scheduledMinor`: the total due up to `dueAt`, including fees. */
type Due = { workspaceId: Uuid; holder: Uuid; dueAt: Date; scheduledMinor: Minor }

/** `$3` and `$4`: the first and last workspace id. */
const readDue = statement('payments.due_soon')`
  select d.workspace_id as "workspaceId", ${balanceAccountSql('w')} as holder, d.execute_at as "dueAt",
     sum(d.minor) over (partition by d.workspace_id order by d.execute_at)::bigint as "scheduledMinor"
   from (select p.workspace_id, p.execute_at, sum(p.amount_minor + coalesce(p.fee_minor, 0)) as minor
     from payments p where p.status = 'scheduled' and p.execute_at > $1 and p.execute_at <= $2 and p.workspace_id between $3 and $4
     group by 1, 2) as d join workspaces w on w.id = d.workspace_id where w.closed_at is null
   order by 1, 3`

const dueSoon = (db: Db, now: Date, from: Uuid, to = from): Promise<Due[]> =>
  db.query<Due>(readDue, [now, secondsAfter(now, longestSeconds), from, to])

/** A cheap first check on the shared connection, because most workspaces have no payment due. */
const anyDue = prepareText<{ isDue: true }>()(
  'payments.any_due_soon',
  { workspace: 'uuid', now: 'timestamptz', until: 'timestamptz' },
  `select true as "isDue" from payments
   where workspace_id = key.workspace and status = 'scheduled' and execute_at > key.now and execute_at <= key.until limit 1`,
  'page',
)

export type Shortage = { missingMinor: Minor; scheduledMinor: Minor; dueAt: Date }

/** Null if the balance covers all due payments. `short`: the due times that it does not cover. */
const shortageOf = (due: readonly Due[], availableMinor: Minor): (Shortage & { short: Due[] }) | null => {
  const short = due.filter(({ scheduledMinor }) => scheduledMinor > availableMinor)
  const [first, last] = [short[0], short.at(-1)]
  if (!first || !last) return null
  const { scheduledMinor } = last
  return { dueAt: first.dueAt, scheduledMinor, missingMinor: scheduledMinor - availableMinor, short }
}

const shown = presenter(BalanceShortage)

/** Returns when the balance first fails to cover due payments, and the total due within two days. Null if it covers all. */
export const readShortage = async (db: Db, workspaceId: Uuid, now: Date): Promise<Shortage | null> => {
  const window = { workspace: workspaceId, now, until: secondsAfter(now, longestSeconds) }
  const due = (await db.run(anyDue, window)).length > 0 ? await dueSoon(db, now, workspaceId) : []
  const [first] = due
  if (!first) return null
  return shortageOf(due, (await getBalance(db, first.holder)).availableMinor)
}

/** `to`: members who manage policies or who requested payments due at these times. `about`: the first of these payments. */
const readRecipients = statement('payments.told_of_shortage')`
  with due as materialized (select id, batch_id, execute_at, initiator_account_id from payments
     where workspace_id = $1 and status = 'scheduled' and execute_at = any($2::timestamptz[]))
   select (select json_build_object('payment', id, 'batch', batch_id) from due order by execute_at, id limit 1) as about,
     array(select account_id from members where workspace_id = $1 and status = 'active'
       and (role in ${namesSql(policyRoles)} or account_id in (select initiator_account_id from due))) as "to"`
type ShortageRecipients = { about: { payment: Uuid; batch: Uuid | null }; to: Uuid[] }

const pathOf = ({ payment, batch }: ShortageRecipients['about']): string =>
  batch ? `/payments/batches/${formatId('payment_batch', batch)}` : `/payments/${formatId('payment', payment)}`

/** The shortest of `leadHours` that has begun. */
const leadTimeOf = (dueAt: Date, now: Date): number =>
  Math.min(...leadHours.filter((each) => dueAt <= secondsAfter(now, each * 3600)))

type ShortageDeps = SweepDeps & Pick<Parts, 'config'>

/** Rows of past due times are no longer needed: only future ones are announced. */
const pruneShortages = prepareWrite('balances.prune_shortages', { workspaceId: 'uuid', before: 'timestamptz' }, (orm, param) =>
  orm
    .delete(balanceShortages)
    .where(and(eq(balanceShortages.workspaceId, param.workspaceId), lt(balanceShortages.dueAt, param.before))),
)

/** Checks again under the lock, because money may have come in meanwhile. Each due time is announced once per lead time. */
const notifyOf = ({ db, config }: ShortageDeps, { workspaceId, holder }: Pick<Due, 'workspaceId' | 'holder'>): Promise<void> =>
  inTx(db, async (tx) => {
    await lockAccount(tx, holder)
    const [due, { availableMinor }] = await Promise.all([dueSoon(tx, tx.at, workspaceId), getBalance(tx, holder)])
    const shortage = shortageOf(due, availableMinor)
    if (!shortage) return
    const { short, ...facts } = shortage
    const { missingMinor, scheduledMinor } = facts
    const rows = short.map(({ dueAt }) => ({ ...facts, workspaceId, dueAt, hours: leadTimeOf(dueAt, tx.at), toldAt: tx.at }))
    const fresh = await insertRows(tx, balanceShortages, rows, 'on conflict do nothing returning true as fresh')
    if (fresh.length === 0) return
    tx.defer(tx.run(pruneShortages, { workspaceId, before: daysAfter(tx.at, -7) }))
    const data = shown({ workspaceId, ...facts })
    await appendEvents(tx, [{ type: 'balance.short', accountId: holder, workspaceId, data }])
    const { about, to } = only(await tx.query<ShortageRecipients>(readRecipients, [workspaceId, short.map(({ dueAt }) => dueAt)]))
    queueMail(tx, {
      kind: 'balance_short',
      cause: `balance_short/${workspaceId}/${tx.at.toISOString()}`,
      workspaceId,
      to,
      path: pathOf(about),
      values: {
        missing: displayAmount(missingMinor, config.CURRENCY),
        scheduled: displayAmount(scheduledMinor, config.CURRENCY),
      },
      times: { due: isoTime(shortage.dueAt) },
    })
  })

const workspacesWithDue = prepare(
  'payments.workspaces_due_soon',
  { now: 'timestamptz', until: 'timestamptz', behind: 'uuid', take: 'rows' },
  (orm, param) =>
    orm
      .selectDistinct({ id: payments.workspaceId })
      .from(payments)
      .where(
        and(
          eq(payments.status, sql`'scheduled'`),
          gt(payments.executeAt, param.now),
          lte(payments.executeAt, param.until),
          gt(payments.workspaceId, param.behind),
        ),
      )
      .orderBy(payments.workspaceId)
      .limit(param.take),
)
const pageSize = 300

export const notifyOfShortages = async (deps: ShortageDeps): Promise<void> => {
  const { db, clock } = deps
  const now = clock.now()
  const until = secondsAfter(now, longestSeconds)
  for (let behind: Uuid | undefined = firstId; behind !== undefined; ) {
    const page: { id: Uuid }[] = await db.run(workspacesWithDue, { now, until, behind, take: pageSize })
    const [first, last] = [page[0], page.at(-1)]
    const due = first && last ? await dueSoon(db, now, first.id, last.id) : []
    const balances = await getBalances(db, [...new Set(due.map(({ holder }) => holder))])
    const short = due.filter(({ holder, scheduledMinor }) => scheduledMinor > balanceIn(balances, holder).availableMinor)
    const workspaces = new Map(short.map(({ workspaceId: id, holder }) => [id, { id, holder }]))
    await forEachRow(deps, 'balances.short', [...workspaces.values()], ({ id, holder }) =>
      notifyOf(deps, { workspaceId: id, holder }),
    )
    behind = page.length === pageSize ? last?.id : undefined
  }
}
