import { statement, type Tx } from '../../../db/client.ts'
import type { StoredCharge } from '../../../db/tables/payments.ts'
import type { Minor } from '../../../lib/money.ts'
import type { Charge } from '../../../policy/types.ts'

/** A total has no period: this date stands for it, so that every counter has one key. */
export const totalStart = '0001-01-01'

export const storedCharges = (charges: readonly Charge[]): StoredCharge[] =>
  charges.map(({ subject, subjectId, period, periodStart }) => ({
    subject,
    id: subjectId,
    period,
    start: periodStart ?? totalStart,
  }))

const add = statement(
  'counters.add',
  `insert into usage_counters as c (subject, subject_id, period, period_start, used_minor, payments)
   select subject, id, period, start, $2, 1 from jsonb_to_recordset($1) as x(subject text, id uuid, period text, start date)
   on conflict (subject_id, period, period_start) do update set used_minor = c.used_minor + excluded.used_minor, payments = c.payments + 1`,
)
const release = statement(
  'counters.give_back',
  `update usage_counters c set used_minor = c.used_minor - $2, payments = c.payments - 1
   from jsonb_to_recordset($1) as x(subject text, id uuid, period text, start date)
   where c.subject_id = x.id and c.period = x.period and c.period_start = x.start`,
)

/** Charges a payment to every counter it falls under. The owning ledger account's lock is held, and no other transaction touches them. */
export const chargeCounters = async (tx: Tx, charges: readonly StoredCharge[], amount: Minor): Promise<void> => {
  if (charges.length > 0) await tx.query(add, [JSON.stringify(charges), amount])
}

/** Gives back exactly what was charged, in the periods it was charged to. */
export const releaseCharges = async (tx: Tx, charges: readonly StoredCharge[], amount: Minor): Promise<void> => {
  if (charges.length > 0) await tx.query(release, [JSON.stringify(charges), amount])
}
