import { inTx, type Tx } from '../../db/client.ts'
import { audit } from '../../events/audit.ts'
import { findEvent } from '../../events/read.ts'
import { emailKeySql } from '../../lib/email-key.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { phoneContext } from '../../modules/topups/service.ts'
import { write } from './arguments.ts'
import type { Console } from './console.ts'

const owned = 't.workspace_id in (select id from workspaces where owning_account_id = $1)'

/** Every table with data about a person, with the condition for rows of the account and of the workspaces that it owns. */
export const aboutPerson: Readonly<Record<string, string>> = {
  accounts: 't.id = $1',
  operator_invitations: `t.subject_key in (select i.subject_key from identities i where i.account_id = $1 and i.provider = 'wallet'
    union select ${emailKeySql('i.email')} from identities i where i.account_id = $1 and i.email_verified)`,
  identities: 't.account_id = $1',
  passkeys: 't.account_id = $1',
  sessions: 't.account_id = $1',
  push_subscriptions: 't.account_id = $1',
  push_notices: 't.account_id = $1',
  notification_settings: 't.account_id = $1',
  mails: 't.account_id = $1',
  session_acts: 't.account_id = $1',
  dashboard_tokens: 't.account_id = $1',
  workspaces: 't.owning_account_id = $1',
  members: 't.account_id = $1',
  invitations: 't.invited_by = $1 or t.accepted_by = $1 or t.email = (select email from accounts where id = $1)',
  grants: 't.account_id = $1',
  api_keys: 't.account_id = $1',
  oauth_authorizations: 't.account_id = $1',
  sign_in_flows: 't.account_id = $1',
  beneficiaries: owned,
  beneficiary_verifications: 't.account_id = $1',
  payees: owned,
  spending_policies: `${owned} or t.created_by = $1 or t.changed_by = $1`,
  spending_policy_versions: 't.created_by = $1',
  intent_mandates: 't.account_id = $1',
  payments: 't.account_id = $1 or t.initiator_account_id = $1',
  payment_batches: 't.account_id = $1 or t.initiator_account_id = $1',
  payment_refusals: 't.account_id = $1',
  approvals: 't.account_id = $1',
  approval_views: 't.account_id = $1',
  approval_decisions: 't.account_id = $1 or t.owning_account_id = $1',
  approval_voids: 't.owning_account_id = $1',
  topups: 't.account_id = $1 or t.initiator_account_id = $1',
  rail_attempts: 't.account_id = $1',
  callback_deliveries: 't.account_id = $1',
  adjustments: 't.account_id = $1',
  balance_separations: 't.account_id = $1 or t.requested_by = $1',
  separation_confirmations: 't.account_id = $1',
  receipt_claims:
    't.owner_id in (select id from payments where account_id = $1 union all select id from topups where account_id = $1)',
  ledger_accounts: 't.owner_id = $1',
  ledger_transfers: 't.customer_account_id = $1',
  hour_totals: 't.account_id = $1',
  usage_counters: 't.account_id = $1',
  spending_totals: 't.account_id = $1',
  events: 't.account_id = $1',
  request_log: 't.account_id = $1',
  stream_places: 't.account_id = $1',
  audit_log: `t.account_id = $1 or t.subject_id = $1`,
}

type Withheld = { table: string; columns: string[] }
const secretColumns = `
  select table_name::text as table, array_agg(column_name::text order by column_name) as columns from information_schema.columns
  where table_schema = 'public' and table_name = any($1::text[]) and data_type = 'bytea' group by 1`

type Row = Record<string, unknown>

/** A top-up's phone belongs to the person, so it is decrypted for the export. */
const phoneOf = async (tx: Tx, { deps }: Console, row: Row): Promise<Row> => {
  const [sealed] = await tx.query<{ ciphertext: Buffer | null; keyId: string | null }>(
    'select phone_ciphertext as ciphertext, phone_key_id as "keyId" from topups where id = $1',
    [row.id],
  )
  if (!sealed?.ciphertext || sealed.keyId === null) return row
  const context = phoneContext({ id: String(row.id), workspaceId: String(row.workspace_id) })
  return { ...row, phone_number: deps.vault.open({ ciphertext: sealed.ciphertext, keyId: sealed.keyId }, context) }
}

/** The event as published. Its row omits data that other rows have. */
const eventOf = async (tx: Tx, row: Row): Promise<Row> =>
  row.payment_id === null ? row : { ...row, data: (await findEvent(tx, String(row.id) as Uuid))?.data }

const pageSize = 500

const writeTable = async (tx: Tx, at: Console, table: string, id: Uuid, withheld: readonly string[]): Promise<void> => {
  await write(`,\n"${table}": [`)
  const text = `select to_jsonb(t) - $2::text[] as row from ${table} t where ${aboutPerson[table]}`
  await tx.query(`declare person_${table} no scroll cursor for ${text}`, [id, withheld])
  let separator = '\n'
  for (let more = true; more; ) {
    const rows = await tx.query<{ row: Row }>(`fetch ${pageSize} from person_${table}`)
    for (const { row } of rows) {
      const shown = table === 'topups' ? await phoneOf(tx, at, row) : table === 'events' ? await eventOf(tx, row) : row
      await write(`${separator}${JSON.stringify(shown)}`)
      separator = ',\n'
    }
    more = rows.length === pageSize
  }
  await write(']')
}

/**
 * Exports all stored data about a person as a JSON document, by table and row. Omits secrets (stored only as hashes) and other
 * people's encrypted data (payees' destinations). `withheld` lists the omitted columns. The audit log records the export before
 * its first byte, so that an export which is stopped has its row too.
 */
export const exportPerson = async (at: Console, id: Uuid): Promise<void> => {
  const { db } = at.deps
  await inTx(db, async (tx) => audit(tx, at.operator, 'admin.export_person', { workspaceId: null, subject: id }))
  await inTx(db, async (tx) => {
    // The transaction is idle while a reader, such as a pager, takes no more output.
    await tx.query('set local idle_in_transaction_session_timeout = 0')
    const tables = Object.keys(aboutPerson)
    const secret = new Map((await tx.query<Withheld>(secretColumns, [tables])).map((row) => [row.table, row.columns]))
    const head = { account_id: formatId('account', id), exported_at: tx.at.toISOString(), withheld: Object.fromEntries(secret) }
    await write(JSON.stringify(head, null, 2).replace(/\n}$/, ''))
    for (const table of tables) await writeTable(tx, at, table, id, secret.get(table) ?? [])
    await write('\n}\n')
  })
}
