import type pg from 'pg'
import { fillTables } from './filled.ts'

/** Waiting rows that are not due, as in an up-to-date service with many customers. Most of the rows have one owner. */
const waiting = [
  // Tables with few rows.
  `delete from signing_keys`,
  `delete from rail_pauses`,
  `delete from write_losses`,
  `delete from provider_tokens`,
  `update grants set revoked_at = null, expires_at = now() + n * interval '1 minute', ancestor_ids = '{}' from (select id as of, row_number() over () as n from grants) x where id = of`,
  `update intent_mandates set status = 'active', expires_at = now() + interval '30 days'`,
  `update spending_policies set archived_at = null, pending_change_effective_at = now() + interval '1 day'`,
  `update approvals set status = 'pending', expires_at = now() + interval '1 day', name_awaited_until = now() + interval '1 hour'`,
  `update payments set status = (array['scheduled', 'processing', 'succeeded', 'unknown'])[1 + account_number % 4], dispatch_due_at = null,
     execute_at = now() + interval '1 day', updated_at = now() from (select id as of, row_number() over () as account_number from payments) x where id = of`,
  `update payment_batches set status = 'scheduled', execute_at = now() + interval '1 day'`,
  `update topups set status = 'pending', expires_at = now() + interval '1 hour', dispatch_due_at = null`,
  `update rail_attempts set state = 'submitted', next_check_at = now() + interval '1 hour'`,
  `update deposits set state = 'received', received_at = now() + interval '1 minute'`,
  `update beneficiaries set name_check_due_at = null`,
]

/** Grows a database: many rows in every table, in the states in which sweeps look for due rows. */
export const growDatabase = async (client: pg.Client, rows: number): Promise<void> => {
  await fillTables(client, rows)
  for (const update of waiting) await client.query(update)
  await client.query('vacuum analyze')
}
