import { sqlChecks } from '../../db/check.ts'
import { providerBooksSql } from '../../ledger/checks.ts'

const books = `books(provider, rail) as (values ${providerBooksSql})`

/** Bookings by receipt. A top-up paid by deposits has their receipts. A resolved suspense item no longer holds its money. */
const bookings = `bookings as (
  select b.provider, 'out' as direction, upper(p.provider_receipt) as receipt, p.id, p.amount_minor from payments p join books b on b.rail = p.rail
  where p.provider_receipt is not null
  union all
  select b.provider, 'in', upper(t.provider_receipt), t.id, t.received_minor from topups t join books b on b.rail = t.method
  where t.provider_receipt is not null and t.deposit_code is null
  union all
  select d.provider, 'in', upper(d.receipt), d.id, d.amount_minor from deposits d where d.state = 'credited'
  union all
  select b.provider, case when s.direction = 'out' then 'out' when s.subject_kind = 'payment' then 'return' else 'in' end,
    upper(s.provider_receipt), s.id, s.amount_minor
  from suspense_items s join books b on b.rail = s.rail where s.provider_receipt is not null and s.transfer_id is not null and s.resolved_at is null)`

export const receiptChecks = sqlChecks({
  I3: {
    'every receipt, regardless of case, belongs to one payment, top-up, deposit or open suspense item per direction': `
      with ${books}, ${bookings}
      select provider || ' ' || direction || ' ' || receipt as subject from bookings group by provider, direction, receipt having count(*) > 1`,
  },
  I22: {
    'every receipt claim matches a booking under that receipt': `
      select c.provider || ' ' || c.direction || ' ' || c.receipt_key as subject from receipt_claims c
      where c.claimed_at >= $since and not exists (
        select from payments p where c.owner_kind = 'payment' and p.id = c.owner_id
          and (c.direction <> 'out' or upper(p.provider_receipt) = c.receipt_key or upper(p.late_success_receipt) = c.receipt_key)
          and (c.direction = 'out' or p.status = 'returned')
        union all select from topups t where c.owner_kind = 'topup' and c.direction = 'in' and t.id = c.owner_id and t.status = 'succeeded'
        union all select from deposits d where c.owner_kind = 'deposit' and c.direction = 'in' and d.id = c.owner_id
          and d.state = 'credited' and upper(d.receipt) = c.receipt_key and d.amount_minor = c.amount_minor
        union all select from suspense_items s where c.owner_kind = 'suspense' and s.id = c.owner_id and s.transfer_id is not null
          and upper(s.provider_receipt) = c.receipt_key and s.amount_minor = c.amount_minor)`,
    'every deposit is credited or in suspense': `
      with ${books}, ${bookings}
      select d.id::text as subject from deposits d
      where d.settled_at >= $since and d.state in ('suspense', 'known') and not exists (
        select from bookings b where b.provider = d.provider and b.direction = 'in' and b.receipt = upper(d.receipt))
        and not exists (select from receipt_claims c where c.provider = d.provider and c.direction = 'in' and c.receipt_key = upper(d.receipt))
        and not exists (select from suspense_items s where upper(s.provider_receipt) = upper(d.receipt) and (s.resolved_at is not null or s.id = d.suspense_id))`,
  },
  I21: {
    'every reconciliation has as many differences as it reported': `
      select r.id::text as subject from reconciliations r
      where r.created_at >= $since and r.differences <> (select count(*) from reconciliation_differences d where d.reconciliation_id = r.id)`,
  },
})
