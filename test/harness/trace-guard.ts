import { connected } from './connected.ts'

/**
 * The tables of money or rights, with the columns that may change without a trace: times of last use, due times, copies of other
 * columns.
 */
const guarded: Readonly<Record<string, readonly string[]>> = {
  ledger_transfers: [],
  payments: ['dispatch_due_at', 'updated_at', 'changed', 'approval_id'],
  topups: ['dispatch_due_at', 'updated_at'],
  approvals: ['updated_at', 'name_awaited_until'],
  approval_decisions: [],
  approval_voids: [],
  adjustments: [],
  intent_mandates: ['updated_at'],
  beneficiaries: ['updated_at', 'name_check_due_at', 'name_checks', 'name_checked_at', 'result_name', 'similar_to_id'],
  spending_policies: ['updated_at'],
  // A refresh moves the end of an OAuth grant. Its limit is in the consent's grant.
  grants: ['last_used_at', 'expires_at'],
  api_keys: ['last_used_at'],
  accounts: ['updated_at', 'email'],
  identities: ['last_used_at', 'email', 'email_verified', 'display_name'],
  sessions: ['last_used_at', 'expires_at'],
  workspaces: ['updated_at', 'time_zone', 'next_time_zone', 'next_time_zone_from'],
  members: ['last_used_at', 'updated_at'],
  invitations: [],
  duplicate_checks: [],
  rail_pauses: [],
  suspense_items: [],
}

/** SQLSTATE of a transaction without an event or audit row. The harness fails a test file whose service logged it. */
export const untraced = 'TR001'

const guardOf = ([table, free]: [string, readonly string[]]): string => {
  const kept = (row: string) => `to_jsonb(${row}) - array[${free.map((name) => `'${name}'`).join(', ')}]::text[]`
  const guard = (when: string, condition = '') =>
    `create constraint trigger ${table}_trace_on_${when} after ${when} on ${table} deferrable initially deferred for each row ${condition} execute function require_trace()`
  return [guard('insert'), guard('delete'), guard('update', `when (${kept('old')} is distinct from ${kept('new')})`)].join(';\n')
}

/**
 * Installs a check for tests: a transaction that writes a guarded table and neither an event nor an audit row fails at its
 * commit. Single statements outside transactions are exempt: tests prepare rows and pruning deletes by them.
 */
export const installTraceGuard = (url: string): Promise<void> =>
  connected(url, async (client) => {
    await client.query(`
      create function note_trace() returns trigger language plpgsql as $$
      begin perform set_config('test.traced', 'yes', true); return null; end $$;
      create trigger events_trace after insert on events for each statement execute function note_trace();
      create trigger audit_log_trace after insert on audit_log for each statement execute function note_trace();
      create function require_trace() returns trigger language plpgsql as $$
      begin
        if current_query() ~* '^\\s*commit' and current_setting('test.traced', true) is distinct from 'yes' then
          raise exception '% of % left neither an event nor an audit row', tg_op, tg_table_name using errcode = '${untraced}';
        end if;
        return null;
      end $$;
      ${Object.entries(guarded).map(guardOf).join(';\n')}`)
  })
