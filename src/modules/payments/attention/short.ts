import { policyRoles } from '../../../auth/permissions.ts'
import { lockAccount } from '../../../db/account-lock.ts'
import { type Db, inTx, statement } from '../../../db/client.ts'
import { insertRows } from '../../../db/prepare-write.ts'
import { namesSql } from '../../../db/tables/columns.ts'
import { balanceAccountSql, balanceShortages } from '../../../db/tables/workspaces.ts'
import { appendEvents } from '../../../events/append.ts'
import { presenter } from '../../../http/presenter.ts'
import { getBalance } from '../../../ledger/ledger.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { displayAmount, type Minor } from '../../../lib/money.ts'
import { forEachRow, type Sweeping } from '../../for-each-row.ts'
import { queueMail, timeText } from '../../mail/service.ts'
import type { Parts } from '../../parts.ts'
import { BalanceShortage } from './schema.ts'

// What is scheduled holds no money until its time, so a balance can be too low for it without anyone noticing.

const hours = [48, 4] as const
const longestSeconds = hours[0] * 3600

/** With its fees, what is due until a time, of each time at which something is due. */
type Due = { workspaceId: Uuid; holder: Uuid; dueAt: Date; scheduledMinor: Minor; asked: Uuid[]; path: string }

/** `$3`: one workspace, or all. */
const readDue = statement(
  'payments.due_soon',
  `select d.workspace_id as "workspaceId", ${balanceAccountSql('w')} as holder, d.execute_at as "dueAt", d.asked,
     sum(d.minor) over (partition by d.workspace_id order by d.execute_at)::bigint as "scheduledMinor", d.batch, d.payment
   from (select p.workspace_id, p.execute_at, sum(p.amount_minor + coalesce(p.fee_minor, 0)) as minor,
       array_agg(distinct p.initiator_account_id) as asked, (array_agg(p.batch_id order by p.id))[1] as batch, (array_agg(p.id order by p.id))[1] as payment
     from payments p where p.status = 'scheduled' and p.execute_at > $1 and p.execute_at <= $2 and ($3::uuid is null or p.workspace_id = $3)
     group by 1, 2) as d join workspaces w on w.id = d.workspace_id where w.closed_at is null
   order by 1, 3`,
)

const dueSoon = async (db: Db, now: Date, workspaceId: Uuid | null): Promise<Due[]> => {
  type Row = Omit<Due, 'path'> & { batch: Uuid | null; payment: Uuid }
  const rows = await db.query<Row>(readDue, [now, secondsAfter(now, longestSeconds), workspaceId])
  return rows.map(({ batch, payment, ...row }) => {
    const path = batch ? `/payments/batches/${formatId('payment_batch', batch)}` : `/payments/${formatId('payment', payment)}`
    return { ...row, path }
  })
}

export type Shortage = { missingMinor: Minor; scheduledMinor: Minor; dueAt: Date }

const shown = presenter(BalanceShortage)
export const presentShortage = (workspaceId: Uuid, shortage: Shortage) => shown({ workspaceId, ...shortage })

/** The first time at which the balance does not cover what is due, with all that is due within two days. */
export const readShortage = async (db: Db, workspaceId: Uuid, now: Date): Promise<Shortage | null> => {
  const due = await dueSoon(db, now, workspaceId)
  const [first] = due
  if (!first) return null
  return shortageOf(due, (await getBalance(db, first.holder)).availableMinor)
}

const shortageOf = (due: readonly Due[], availableMinor: Minor): Shortage | null => {
  const short = due.filter(({ scheduledMinor }) => scheduledMinor > availableMinor)
  const [first, last] = [short[0], short.at(-1)]
  if (!first || !last) return null
  const { scheduledMinor } = last
  return { dueAt: first.dueAt, scheduledMinor, missingMinor: scheduledMinor - availableMinor }
}

/** Who can top up, and who asked for what is due: its members. */
const readTold = statement(
  'payments.told_of_shortage',
  `select account_id as id from members where workspace_id = $1 and status = 'active'
     and (role in ${namesSql(policyRoles)} or account_id = any($2::uuid[]))`,
)

/** The nearest of the two distances that a time has reached. */
const reached = (dueAt: Date, now: Date): number => Math.min(...hours.filter((each) => dueAt <= secondsAfter(now, each * 3600)))

type Shorting = Sweeping & Pick<Parts, 'config'>

/** Under the lock, as money may have come in meanwhile. Each time is told of once for each distance. */
const tellOf = ({ db, config }: Shorting, { workspaceId, holder }: Pick<Due, 'workspaceId' | 'holder'>): Promise<void> =>
  inTx(db, async (tx) => {
    await lockAccount(tx, holder)
    const [due, { availableMinor }] = await Promise.all([dueSoon(tx, tx.at, workspaceId), getBalance(tx, holder)])
    const shortage = shortageOf(due, availableMinor)
    if (!shortage) return
    const { missingMinor, scheduledMinor } = shortage
    const short = due.filter((each) => each.scheduledMinor > availableMinor)
    const rows = short.map(({ dueAt }) => ({
      ...{ workspaceId, dueAt, hours: reached(dueAt, tx.at), missingMinor, scheduledMinor, toldAt: tx.at },
    }))
    const fresh = await insertRows(tx, balanceShortages, rows, 'on conflict do nothing returning true as fresh')
    if (fresh.length === 0) return
    const data = presentShortage(workspaceId, shortage)
    await appendEvents(tx, [{ type: 'balance.short', accountId: holder, workspaceId, data }])
    const told = await tx.query<{ id: Uuid }>(readTold, [workspaceId, short.flatMap(({ asked }) => asked)])
    queueMail(tx, {
      ...{ kind: 'balance_short', cause: `balance_short/${workspaceId}/${tx.at.toISOString()}`, workspaceId },
      ...{ to: told.map(({ id }) => id), path: short[0]?.path ?? '/' },
      values: {
        ...{ missing: displayAmount(missingMinor, config.CURRENCY), scheduled: displayAmount(scheduledMinor, config.CURRENCY) },
        due: timeText(shortage.dueAt),
      },
    })
  })

export const tellOfShortages = async (deps: Shorting): Promise<void> => {
  const due = await dueSoon(deps.db, deps.clock.now(), null)
  const workspaces = [...Map.groupBy(due, ({ workspaceId }) => workspaceId)].map(([id, [{ holder } = { holder: id }]]) => ({
    id,
    holder,
  }))
  await forEachRow(deps, 'balances.short', workspaces, ({ id, holder }) => tellOf(deps, { workspaceId: id, holder }))
}
