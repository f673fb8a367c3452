import type { Movement } from '../../src/dev/sandbox/book.ts'
import { connected } from '../harness/connected.ts'

type Row = Record<string, string>

/**
 * The invariants in independent SQL, without the service's code, to find gaps in `verify`. Each query returns the breaches of a
 * promise.
 */
const promises: Readonly<Record<string, string>> = {
  'I1 every transfer moves between two accounts': `select id::text as subject from ledger_transfers where debit_account_id = credit_account_id or amount_minor <= 0`,
  'I2 a balance is the sum of its transfers': `
    with moved as (
      select a.id,
        coalesce(sum(case when t.kind in ('direct', 'post') and t.credit_account_id = a.id then t.amount_minor end), 0) as credits,
        coalesce(sum(case when t.kind in ('direct', 'post') and t.debit_account_id = a.id then t.amount_minor end), 0) as debits,
        coalesce(sum(case when t.kind = 'pending' and t.debit_account_id = a.id then t.amount_minor end), 0)
          - coalesce(sum(case when t.kind in ('post', 'void') and t.debit_account_id = a.id then t.amount_minor end), 0) as held
      from ledger_accounts a left join ledger_transfers t on a.id in (t.debit_account_id, t.credit_account_id)
      where a.kind = 'customer' group by a.id)
    select a.code as subject from ledger_accounts a join moved m on m.id = a.id
    where (a.posted_credits_minor, a.posted_debits_minor, a.pending_debits_minor) <> (m.credits, m.debits, m.held)
       or m.credits - m.debits - m.held < 0`,
  'I3 a receipt is booked once': `
    select receipt as subject from (
      select provider_receipt as receipt from payments where provider_receipt is not null
      union all select provider_receipt from topups where provider_receipt is not null) as all_receipts
    group by receipt having count(*) > 1`,
  'I5 a payment is paid, open or given back as its state says': `
    select p.id || ' ' || p.status as subject from payments p
    join ledger_transfers h on h.id = p.hold_transfer_id left join ledger_transfers e on e.pending_id = h.id
    where coalesce(e.kind, 'open') <> case when p.status in ('succeeded', 'returned') then 'post'
      when p.status in ('failed', 'rejected', 'cancelled', 'expired') then 'void' else 'open' end`,
  'I3 a top-up is credited once when it succeeded, and otherwise never': `
    select p.id || ' ' || p.status as subject from topups p
    where (select count(*) from ledger_transfers t where t.reference_id = p.id) <> case when p.status = 'succeeded' then 1 else 0 end`,
  'I8 a change, its audit row and its event are all there': `
    select p.id::text as subject from payments p
    where not exists (select from audit_log a where a.subject_id = p.id) or not exists (select from events e where e.type = 'payment.created' and e.workspace_id = p.workspace_id)
    union all select t.id::text from topups t where not exists (select from audit_log a where a.subject_id = t.id)`,
  'I8 an ended payment has its ending event': `
    with ends as materialized (
      select account_id, type, payment_id, (data->>'completed_at')::timestamptz as completed_at
      from events where type like 'payment.%' and data->>'completed_at' is not null)
    select p.id::text as subject from payments p
    left join ends e on e.account_id = p.account_id and e.type = 'payment.' || p.status and e.payment_id = p.id
      and e.completed_at = p.completed_at
    where p.status in ('succeeded', 'failed', 'rejected', 'cancelled', 'expired') and e.type is null`,
  'I13 a payment has one live attempt at most': `
    select subject_id::text as subject from rail_attempts where state <> 'not_sent' group by subject_id having count(*) > 1`,
}

const attemptOfMovement = `
  select a.id::text as attempt, a.kind, a.subject_id::text as subject, a.reference, a.provider_request as request,
    coalesce(p.status, t.status) as status, coalesce(p.provider_receipt, t.provider_receipt) as receipt,
    case when p.late_success_at is not null or exists (select from suspense_items s where s.subject_id = a.subject_id) then 'seen' end as seen
  from rail_attempts a left join payments p on p.id = a.subject_id left join topups t on t.id = a.subject_id`

/** Compares the provider's movements with our records: every movement belongs to one attempt, and no payment has two. */
const compare = (
  attempts: readonly Row[],
  movements: readonly Pick<Movement, 'rail' | 'key' | 'reference' | 'receipt'>[],
): string[] => {
  const faults: string[] = []
  const movedFor = new Map<string, number>()
  const attemptOf = new Map<string | undefined, Row>()
  for (const each of attempts) for (const id of [each.attempt, each.reference, each.request]) if (id) attemptOf.set(id, each)
  for (const { key, reference, receipt, rail } of movements) {
    const attempt = attemptOf.get(key) ?? attemptOf.get(reference)
    if (!attempt) {
      faults.push(`${rail} moved ${receipt}, which belongs to no attempt`)
      continue
    }
    const subject = attempt.subject ?? ''
    movedFor.set(subject, (movedFor.get(subject) ?? 0) + 1)
    const isOpen = ['succeeded', 'unknown', 'processing'].includes(attempt.status ?? '')
    if (attempt.kind === 'payment' && !isOpen && !attempt.seen)
      faults.push(`payment ${subject} is ${attempt.status}, and the provider paid it (${receipt}), which nobody sees`)
  }
  for (const [subject, times] of movedFor) if (times > 1) faults.push(`${subject} was moved ${times} times`)
  for (const { kind, subject, status } of attempts)
    if (status === 'succeeded' && !movedFor.has(subject ?? ''))
      faults.push(`${kind} ${subject} succeeded, and the provider moved nothing`)
  return faults
}

/** All breaches, one line each. Empty if every promise is kept. */
export const findFaults = (
  databaseUrl: string,
  movements: readonly Pick<Movement, 'rail' | 'key' | 'reference' | 'receipt'>[],
): Promise<string[]> =>
  connected(databaseUrl, async (client) => {
    const problems: string[] = []
    for (const [promise, sql] of Object.entries(promises)) {
      const { rows } = await client.query<{ subject: string }>(`select * from (${sql}) as breach limit 5`)
      problems.push(...rows.map(({ subject }) => `${promise}: ${subject}`))
    }
    const { rows } = await client.query<Row>(attemptOfMovement)
    return [...problems, ...compare(rows, movements)]
  })
