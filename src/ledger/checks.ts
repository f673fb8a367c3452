import { type Check, sqlChecks } from '../db/check.ts'
import { balanceAccountsSql } from '../db/tables/workspaces.ts'
import { paidPaymentsSql, releasedPaymentsSql } from '../db/transitions.ts'
import { firstId } from '../lib/ids.ts'
import { booksOf, providers } from '../lib/rail-names.ts'
import { hourSumsSql } from './count-hours.ts'
import { firstTimeSql, hourOf, signedAmount } from './hours.ts'
import { totalsOf, trialBalance } from './reports.ts'

const holdEndsSql = 'select e.kind, e.pending_id from ledger_transfers e where e.pending_id is not null'

const balances: Check = {
  invariant: 'I1',
  promise: 'debits equal credits over all accounts, posted and pending',
  find: async (db) => {
    const { debitsMinor, creditsMinor, pendingDebitsMinor, pendingCreditsMinor } = totalsOf(await trialBalance(db))
    const [posted, pending] = [debitsMinor - creditsMinor, pendingDebitsMinor - pendingCreditsMinor]
    return [
      ...(posted === 0n ? [] : [`posted debits exceed credits by ${posted}`]),
      ...(pending === 0n ? [] : [`pending debits exceed credits by ${pending}`]),
    ]
  },
}

export const providerBooksSql = providers
  .flatMap((provider) => booksOf(provider).map((rail) => `('${provider}', '${rail}')`))
  .join(', ')

/** Id of the newest transfer `t` made an hour or more before a turn of the month: ids and times deviate by less. */
const newestIdBefore = (turn: string): string =>
  `coalesce(max(t.id::text collate "C") filter (where t.created_at < ${turn} - interval '1 hour'), '${firstId}')::uuid`

/** Sums of the bookings that are earlier than a turn of the month by time, and of those that are later by both time and id. */
const turnSums = (turn: 'last' | 'before'): string => `
  coalesce(sum(signed.minor) filter (where t.created_at < turns.${turn}), 0) as closing_${turn},
  coalesce(sum(signed.minor) filter (where t.created_at >= turns.${turn} and t.id > e.${turn}), 0) as moved_${turn}`

/**
 * Rows whose audit entry may have the transfer's time. Each is compared separately: a comparison with any of them would be joined
 * by time alone, and all transfers of a batch have the same time.
 */
const auditSubjects = ['t.reference_id', 'p.batch_id', 'p.approval_id', 'd.topup_id']

/** Reference types of transfers that publish the resulting balance. */
const publishingTypes = "('payment', 'fee', 'topup', 'deposit')"

export const ledgerChecks: readonly Check[] = [
  balances,
  ...sqlChecks({
    I1: {
      /** Reads every transfer, so it runs only in a full check. Otherwise, these transfers are too old to have changed. */
      'the stored clearing sums equal the sums of the transfers before them': `
        with moved as (
          select p.name, sum(t.amount_minor) filter (where d.kind in ('rail_clearing', 'topup_clearing')) as came_in,
            sum(t.amount_minor) filter (where c.kind in ('rail_clearing', 'topup_clearing')) as went_out
          from ledger_transfers t join ledger_accounts d on d.id = t.debit_account_id join ledger_accounts c on c.id = t.credit_account_id
            left join payments paid on t.reference_type = 'payment' and paid.id = t.reference_id
            left join topups up on t.reference_type = 'topup' and up.id = t.reference_id
            left join deposits paid_in on t.reference_type = 'deposit' and paid_in.id = t.reference_id
            left join suspense_items s on t.reference_type = 'suspense' and s.id = t.reference_id
            join (values ${providerBooksSql}) as b(name, rail) on b.rail = coalesce(paid.rail, up.method, paid_in.rail, s.rail)
            join clearing_points p on p.name = b.name and t.id <= p.through
          where $since = '-infinity' and t.kind in ('direct', 'post') group by 1)
        select p.name as subject from clearing_points p left join moved m on m.name = p.name
        where $since = '-infinity' and (p.came_in_minor, p.went_out_minor) <> (coalesce(m.came_in, 0), coalesce(m.went_out, 0))`,
      'the balance of the suspense account equals the total of open suspense items': `
        with held as (
          select coalesce(sum(case when c.code = 'suspense' then t.amount_minor when d.code = 'suspense' then -t.amount_minor end), 0) as minor
          from ledger_transfers t join ledger_accounts d on d.id = t.debit_account_id join ledger_accounts c on c.id = t.credit_account_id
          where t.reference_type in ('suspense', 'deposit') and (c.code = 'suspense' or d.code = 'suspense')),
        open as (
          select coalesce(sum(case when direction = 'in' then amount_minor else -amount_minor end), 0) as minor
          from suspense_items where transfer_id is not null and resolved_at is null)
        select held.minor || ' held, ' || open.minor || ' in open items' as subject from held, open where held.minor <> open.minor`,
      'every transfer has two accounts in one currency, and every post or void has the accounts and the amount of its hold': `
        select t.id::text as subject from ledger_transfers t
          left join ledger_accounts d on d.id = t.debit_account_id left join ledger_accounts c on c.id = t.credit_account_id
          left join ledger_transfers h on h.id = t.pending_id
        where t.created_at >= $since and (d.id is null or c.id is null or d.currency <> c.currency or t.amount_minor <= 0
          or (t.pending_id is not null and (h.kind, h.debit_account_id, h.credit_account_id, h.amount_minor)
              is distinct from ('pending', t.debit_account_id, t.credit_account_id, t.amount_minor)))`,
    },
    I2: {
      // Reads every transfer. Compares sums of values, because ids of two processes may not follow the order of their effects.
      'the available balance after every transfer is the previous one plus the change': `
        with moved as (
          select t.customer_account_id as id, t.available_after_minor as left_minor,
            case t.kind when 'post' then 0 when 'void' then t.amount_minor when 'pending' then -t.amount_minor
              else ${signedAmount} end as change_minor
          from ledger_transfers t where t.customer_account_id is not null and $since = '-infinity'),
        ends as (
          select a.id, a.posted_credits_minor - a.posted_debits_minor - a.pending_debits_minor as available_minor from ledger_accounts a
          where exists (select from moved m where m.id = a.id) and not exists (select from moved m where m.id = a.id and m.left_minor is null)),
        steps as (
          select id, left_minor as value, 1 as n from moved union all select id, left_minor - change_minor, -1 from moved
          union all select id, 0, 1 from ends union all select id, available_minor, -1 from ends)
        select a.code || ': ' || s.value as subject from steps s join ends using (id) join ledger_accounts a on a.id = s.id
        group by a.code, s.value having sum(s.n) <> 0
        union all
        select a.code || ': ' || m.left_minor from moved m join ledger_accounts a using (id)
        where m.change_minor = 0 and m.left_minor <> 0 and not exists (
          select from moved o where (o.id, o.left_minor) = (m.id, m.left_minor) and o.change_minor <> 0)`,
      'every transfer has the time of its entry in the audit log': `
        select t.id::text as subject from ledger_transfers t
          left join payments p on t.reference_type in ('payment', 'fee') and p.id = t.reference_id
          left join deposits d on t.reference_type = 'deposit' and d.id = t.reference_id
        where t.created_at >= $since and t.reference_type in ('payment', 'fee', 'topup', 'deposit', 'suspense')
          and ${auditSubjects.map((subject) => `not exists (select from audit_log a where (a.subject_id, a.at) = (${subject}, t.created_at))`).join(' and ')}`,
      'the stored totals of every customer equal the sum of the transfers': `
        with ended as (select pending_id from ledger_transfers where pending_id is not null),
        summed as (
          select a.id,
            coalesce(sum(t.amount_minor) filter (where t.kind in ('direct', 'post') and t.debit_account_id = a.id), 0) as debits,
            coalesce(sum(t.amount_minor) filter (where t.kind in ('direct', 'post') and t.credit_account_id = a.id), 0) as credits,
            coalesce(sum(t.amount_minor) filter (where t.kind = 'pending' and t.debit_account_id = a.id and not exists (select from ended e where e.pending_id = t.id)), 0) as pending
          from ledger_accounts a left join ledger_transfers t on t.customer_account_id = a.id
          where a.kind = 'customer' and ($since = '-infinity' or a.id in (select customer_account_id from ledger_transfers where created_at >= $since))
          group by a.id
        )
        select a.code as subject from ledger_accounts a join summed s on s.id = a.id
        where a.posted_debits_minor <> s.debits or a.posted_credits_minor <> s.credits or a.pending_debits_minor <> s.pending`,
      /** Counts back from the current totals to two turns of the month, to find a booking whose time contradicts its id. */
      'the opening balance of every statement equals the closing balance of the previous one': `
        with turns as (select date_trunc('month', $now) as last, date_trunc('month', $now) - interval '1 month' as before),
        moved as (
          select a.id, a.code, a.posted_credits_minor - a.posted_debits_minor as now_minor from ledger_accounts a
          where a.kind = 'customer' and ($since = '-infinity' or a.id in (select customer_account_id from ledger_transfers where created_at >= $since))),
        -- Read whole, twice: searched account by account, every transfer was read five times in random order.
        edges as (
          select m.id, ${newestIdBefore('turns.last')} as last, ${newestIdBefore('turns.before')} as before
          from moved m cross join turns left join ledger_transfers t on t.customer_account_id = m.id group by m.id),
        sums as (
          select m.code, m.now_minor, ${turnSums('last')}, ${turnSums('before')}
          from moved m join edges e on e.id = m.id cross join turns
            left join ledger_transfers t on t.customer_account_id = m.id and t.kind in ('direct', 'post')
            cross join lateral (select case when t.credit_account_id = m.id then t.amount_minor else -t.amount_minor end as minor) as signed
          group by m.id, m.code, m.now_minor)
        select s.code || ' at ' || turn.at as subject from sums s cross join turns
          cross join lateral (values (turns.last, s.closing_last, s.moved_last), (turns.before, s.closing_before, s.moved_before)) as turn(at, closing, moved)
        where turn.closing <> s.now_minor - turn.moved`,
      /** Compares opening balances with sums of all earlier bookings. Reads every transfer, so it runs only in a full check. */
      'hourly totals and their opening balances equal the sums of bookings and payments': `
        with counted as (select * from counted_hours where $since = '-infinity'),
        ${hourSumsSql(firstTimeSql, '(select through from counted)')},
        expected as (
          select * from sums
          union all
          select account_id, '${firstId}', '${firstId}', hour, 1, (sum(minor) over (partition by account_id order by hour) - minor)::bigint, 0, 'opening' from net)
        select account_id || ' ' || type || ' of ' || hour as subject
        from (select * from expected cross join counted where hour >= ${hourOf('since')}) e
          full join (select h.* from hour_totals h cross join counted where h.hour >= since and h.hour < through) t
            using (account_id, workspace_id, beneficiary_id, hour, type)
        where (e.entries, e.came_in_minor, e.went_out_minor) is distinct from (t.entries, t.came_in_minor, t.went_out_minor)`,
      'no customer account is overdrawn, and system accounts store no totals': `
        select code as subject from ledger_accounts
        where (kind = 'customer' and posted_credits_minor - posted_debits_minor - pending_debits_minor < 0)
           or (kind <> 'customer' and (posted_credits_minor, posted_debits_minor, pending_debits_minor) <> (0, 0, 0))`,
      'every account has its own ledger account': `
        select a.id::text as subject from accounts a where not exists (select from ledger_accounts l where l.owner_id = a.id)
        union all select l.code from ledger_accounts l where l.kind = 'customer' and not exists (select from accounts a where a.id = l.owner_id)`,
    },
    I3: {
      'every successful top-up was credited in full, once for each payment under it, and no other top-up was credited': `
        select p.id::text as subject from topups p
          left join lateral (
            select count(*) as credits,
              coalesce(sum(t.amount_minor) filter (where c.owner_id in (select holder.id from workspaces w cross join lateral ${balanceAccountsSql('w')} as holder(id) where w.id = p.workspace_id)), 0) as credited
            from ledger_transfers t join ledger_accounts c on c.id = t.credit_account_id
            where t.kind = 'direct' and ((t.reference_type = 'topup' and t.reference_id = p.id)
              or (t.reference_type = 'deposit' and t.reference_id in (select d.id from deposits d where d.topup_id = p.id and d.state = 'credited')))) as booked on true
          cross join lateral (
            select case when p.deposit_code is null then 1 else count(d.id) end as times,
              case when p.deposit_code is null then p.received_minor else coalesce(sum(d.amount_minor), 0) end as amount_minor
            from deposits d where d.topup_id = p.id and d.state = 'credited') as paid
        where p.updated_at >= $since
          and ((p.status = 'succeeded') <> (booked.credits = paid.times and booked.credited = paid.amount_minor and booked.credits > 0) or (p.status <> 'succeeded' and booked.credits > 0))
        union all
        select t.id::text from ledger_transfers t where t.reference_type = 'topup' and t.created_at >= $since and not exists (select from topups p where p.id = t.reference_id)
        union all
        select t.id::text from ledger_transfers t where t.reference_type = 'deposit' and t.created_at >= $since
          and not exists (select from deposits d where d.id = t.reference_id and d.state = 'credited' and d.amount_minor = t.amount_minor)`,
    },
    I5: {
      'the hold of every payment has its account and amount, and is open, posted or voided as its status requires': `
        with ends as (${holdEndsSql})
        select p.id::text as subject from payments p
          left join ledger_transfers h on h.id = p.hold_transfer_id left join ledger_accounts d on d.id = h.debit_account_id left join ends e on e.pending_id = h.id
        where p.updated_at >= $since and p.hold_transfer_id is not null and ((h.kind, h.reference_id, h.amount_minor, d.owner_id) is distinct from ('pending', p.id, p.amount_minor, p.account_id)
           or e.kind is distinct from case
                when p.status in ${paidPaymentsSql} then 'post' when p.status in ${releasedPaymentsSql} then 'void' end)
        union all
        select t.id::text from ledger_transfers t
        where t.kind = 'pending' and t.created_at >= $since and not exists (select from payments p where t.id = case t.reference_type when 'fee' then p.fee_hold_transfer_id else p.hold_transfer_id end and p.id = t.reference_id)`,
      'every fee is held, posted or released in full with its payment, and a charged late success includes its fee': `
        with ends as (${holdEndsSql})
        select p.id::text as subject from payments p
          left join ledger_transfers h on h.id = p.fee_hold_transfer_id left join ledger_accounts d on d.id = h.debit_account_id
          left join ledger_accounts c on c.id = h.credit_account_id left join ends e on e.pending_id = h.id
          left join lateral (
            select coalesce(sum(t.amount_minor), 0) as minor from ledger_transfers t
              join ledger_accounts f on f.id = t.credit_account_id join ledger_accounts o on o.id = t.debit_account_id
            where t.reference_type = 'fee' and t.reference_id = p.id and t.kind = 'direct' and f.code = 'fees' and o.owner_id = p.account_id) as late on true
        where p.updated_at >= $since and p.fee_minor is not null and (
          (p.hold_transfer_id is not null and ((h.kind, h.reference_type, h.reference_id, h.amount_minor, d.owner_id, c.code)
              is distinct from ('pending', 'fee', p.id, p.fee_minor, p.account_id, 'fees')
            or e.kind is distinct from case when p.status in ${paidPaymentsSql} then 'post' when p.status in ${releasedPaymentsSql} then 'void' end))
          or late.minor <> case p.late_success_resolution when 'charged' then p.fee_minor else 0 end)
        union all
        select t.id::text from ledger_transfers t where t.reference_type = 'fee' and t.created_at >= $since
          and not exists (select from payments p where p.id = t.reference_id and p.fee_minor is not null
            and (t.kind = 'direct' or p.fee_hold_transfer_id = coalesce(t.pending_id, t.id)))`,
      'every returned payment was credited once, and no other payment was credited': `
        select p.id::text as subject from payments p
          left join lateral (
            select count(*) as credits, coalesce(sum(t.amount_minor) filter (where c.owner_id = p.account_id), 0) as credited
            from ledger_transfers t join ledger_accounts c on c.id = t.credit_account_id and c.kind = 'customer'
            where t.reference_type = 'payment' and t.reference_id = p.id and t.kind = 'direct') as booked on true
        where p.updated_at >= $since
          and ((p.status = 'returned') <> (booked.credits = 1 and booked.credited = p.amount_minor) or (p.status <> 'returned' and booked.credits > 0))`,
      'every resolved late success is booked once, in full, to the party that bears it, and no unresolved one is booked': `
        select p.id::text as subject from payments p
          left join lateral (
            select count(*) as bookings, coalesce(sum(t.amount_minor), 0) as booked, bool_and(d.owner_id is not distinct from p.account_id) as by_payer
            from ledger_transfers t join ledger_accounts c on c.id = t.credit_account_id join ledger_accounts d on d.id = t.debit_account_id
            where t.reference_type = 'payment' and t.reference_id = p.id and t.kind = 'direct' and c.code = 'rail_clearing') as b on true
        where p.updated_at >= $since and ((p.late_success_resolution is null) <> (b.bookings = 0)
           or (p.late_success_resolution is not null and
               (b.bookings, b.booked, b.by_payer) is distinct from (1, p.late_success_amount_minor, p.late_success_resolution = 'charged')))`,
    },
    I14: {
      'the last published balance equals the actual balance': `
        select a.code || ': published ' || published.available || ', is ' || (a.posted_credits_minor - a.posted_debits_minor - a.pending_debits_minor) as subject
        from ledger_accounts a
          join lateral (select t.created_at from ledger_transfers t where t.customer_account_id = a.id and t.reference_type in ${publishingTypes} order by t.id desc limit 1) as moved on true
          join lateral (select t.reference_type from ledger_transfers t where t.customer_account_id = a.id order by t.id desc limit 1) as last on last.reference_type in ${publishingTypes}
          join lateral (select e.data->'balance'->>'available_minor' as available, e.data->'balance'->>'held_minor' as held from events e
            where e.account_id = a.owner_id and e.workspace_id is not distinct from (select h.holder_of_workspace_id from accounts h where h.id = a.owner_id)
              and e.type = 'balance.updated' order by e.transaction desc, e.id desc limit 1) as published on true
        where a.kind = 'customer' and moved.created_at > $retained + interval '1 day'
          and (published.available::bigint, published.held::bigint) <> (a.posted_credits_minor - a.posted_debits_minor - a.pending_debits_minor, a.pending_debits_minor)`,
    },
    I8: {
      'every adjustment moved its stated amount, and no balance was corrected without an adjustment': `
        select a.id::text as subject from adjustments a
          left join ledger_transfers t on t.id = a.transfer_id left join ledger_accounts c on c.id = t.customer_account_id
        where a.status = 'posted' and a.kind = 'balance' and (t.reference_id, abs(a.amount_minor), t.credit_account_id = t.customer_account_id, c.owner_id)
          is distinct from (a.id, t.amount_minor, a.amount_minor > 0, a.account_id)
        union all
        select t.id::text from ledger_transfers t where t.reference_type = 'adjustment' and not exists (select from adjustments a where a.transfer_id = t.id)`,
    },
  }),
]
