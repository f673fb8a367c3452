import { statement, type Tx } from '../../../db/client.ts'
import { insertRows, updateRows } from '../../../db/prepare-write.ts'
import { payments } from '../../../db/tables/payments.ts'
import { spendingTotals, usageCounters } from '../../../db/tables/policies.ts'
import { balanceAccountSql } from '../../../db/tables/workspaces.ts'
import type { BalanceMove } from '../../../ledger/count-hours.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { everyPayee, isInTotal, noGrant, policiesForPayment, totalStart } from '../../../policy/scope-sql.ts'
import type { Charge } from '../../../policy/types.ts'
import type { PaymentRecord } from '../queries.ts'

export type ChargedPayment = { payment: PaymentRecord; charges: readonly Charge[] }

const addOnConflict = (key: string): string => `on conflict (${key}) do update
     set used_minor = t.used_minor + excluded.used_minor, payments = t.payments + excluded.payments`

const oneCounter = addOnConflict('subject_id, period, period_start, account_id')
const oneTotal = addOnConflict('workspace_id, day, payee_id, rail, payment_type, grant_id, account_id')

/** The counters of the payments in `$1` and, below, their totals, derived from the payment rows alone. */
const chargesSql = `
  select s.subject, s.id, k.period, k.start, sum(p.amount_minor)::bigint as minor, count(*) as payments from payments p
  cross join lateral (
    select 'grant' as subject, one.id, one.total_seeded_at is not null as in_total
    from grants g cross join lateral unnest(g.ancestor_ids || g.id) as chain(id)
      cross join lateral (select id, total_seeded_at from grants where id = chain.id offset 0) as one where g.id = p.grant_id
    union all
    select 'policy', s.id, ${isInTotal('s', 'p')} from ${policiesForPayment('p')} as s
    union all
    select 'mandate', p.mandate_id, true where p.mandate_id is not null) as s
  join lateral (values
    ('day', p.counted_day), ('month', date_trunc('month', p.counted_day)::date), ('total', date '${totalStart}')) as k(period, start)
    on case when k.period = 'total' then s.in_total else s.subject <> 'mandate' end
  where p.id = any($1::uuid[]) group by 1, 2, 3, 4`
const totalsSql = `
  select p.workspace_id, (select ${balanceAccountSql('w')} from workspaces w where w.id = p.workspace_id) as account_id, p.counted_day as day, payee, coalesce(p.grant_id, '${noGrant}') as grant_id, p.rail, p.payment_type, sum(p.amount_minor)::bigint as minor, count(*) as payments
  from payments p cross join unnest(array[p.payee_id, '${everyPayee}'::uuid]) as payee where p.id = any($1::uuid[]) group by 1, 2, 3, 4, 5, 6, 7`

const release = statement('counters.release')`
  update usage_counters c set used_minor = c.used_minor - own.minor, payments = c.payments - own.payments
   from (${chargesSql}) as own where c.subject_id = own.id and c.period = own.period and c.period_start = own.start`
const releaseTotals = statement('counters.release_totals')`
  update spending_totals t set used_minor = t.used_minor - own.minor, payments = t.payments - own.payments
   from (${totalsSql}) as own
   where (t.workspace_id, t.day, t.payee_id, t.grant_id, t.rail, t.payment_type, t.account_id)
     = (own.workspace_id, own.day, own.payee, own.grant_id, own.rail, own.payment_type, own.account_id)`

const sumByKey = <Key extends object>(rows: readonly (Key & { usedMinor: Minor })[]) => {
  const sums = new Map<string, Key & { usedMinor: Minor; payments: bigint }>()
  for (const row of rows) {
    const { usedMinor, ...key } = row
    const name = Object.values(key).join(' ')
    const sum = sums.get(name)
    if (sum) {
      sum.usedMinor += usedMinor
      sum.payments += 1n
    } else sums.set(name, { ...row, payments: 1n })
  }
  return [...sums.values()]
}

/** Adds payments to the counters and totals that include them. The caller has locked the owning accounts. */
export const chargeCounters = async (tx: Tx, counted: readonly ChargedPayment[]): Promise<void> => {
  const charges = counted.flatMap(({ payment: { accountId, amountMinor: usedMinor }, charges: own }) =>
    own.map((charge) => ({ ...charge, periodStart: charge.periodStart ?? totalStart, accountId, usedMinor })),
  )
  const totals = counted.flatMap(
    ({ payment: { workspaceId, accountId, countedDay, payeeId, grantId, rail, paymentType, amountMinor } }) =>
      [payeeId, everyPayee].map((payee) => ({
        workspaceId,
        accountId,
        rail,
        paymentType,
        day: countedDay,
        payeeId: payee,
        usedMinor: amountMinor,
        grantId: grantId ?? noGrant,
      })),
  )
  await Promise.all([
    insertRows(tx, usageCounters, sumByKey(charges), oneCounter),
    insertRows(tx, spendingTotals, sumByKey(totals), oneTotal),
  ])
}

/** Subtracts payments from the counters and totals that include them. A deleted counter is not created again. */
export const releaseCharges = async (tx: Tx, paymentIds: readonly Uuid[]): Promise<void> => {
  if (paymentIds.length === 0) return
  await Promise.all([tx.query(release, [paymentIds]), tx.query(releaseTotals, [paymentIds])])
}

/** Moves payments to the counters of the day and the payee with which they were approved. The old ones are still stored. */
export const moveCharges = async (tx: Tx, moved: readonly ChargedPayment[]): Promise<void> => {
  if (moved.length === 0) return
  const rows = moved.map(({ payment }) => payment)
  const ids = rows.map(({ id }) => id)
  await Promise.all([
    releaseCharges(tx, ids),
    updateRows(tx, payments, ['countedDay', 'payeeId'], rows),
    chargeCounters(tx, moved),
  ])
}

const moveUsage = statement('counters.follow_balance')`
  update usage_counters set account_id = $2 where account_id = $3 and subject_id in (
     select id from spending_policies where workspace_id = $1 union all select id from grants where workspace_id = $1
     union all select id from intent_mandates where workspace_id = $1)`
const moveTotals = statement('counters.totals_follow_balance')`
  update spending_totals set account_id = $2 where workspace_id = $1 and account_id = $3`

export const moveCounters = async (tx: Tx, { workspaceId, holder, from }: BalanceMove): Promise<void> => {
  await Promise.all([moveUsage, moveTotals].map((move) => tx.query(move, [workspaceId, holder, from])))
}
