import { inTx, type Tx } from '../../db/client.ts'
import { audit } from '../../events/audit.ts'
import { findEvent } from '../../events/read.ts'
import { emailKeySql } from '../../lib/email-key.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { phoneContext } from '../../modules/topups/service.ts'
import { write } from './arguments.ts'
import type { Console } from './console.ts'

const owned = 't.workspace_id in (select id from workspaces where owning_account_id = $1)'

/** The wallets and verified e-mail addresses of the account, as invitations compare them. */
const keysOfPerson = `select i.subject_key from identities i where i.account_id = $1 and i.provider = 'wallet'
    union select ${emailKeySql('i.email')} from identities i where i.account_id = $1 and i.email_verified`

/** Tables whose rows about the account, and about the workspaces that it owns, are found in another way. */
export const accountConditions: Readonly<Record<string, string>> = {
  accounts: 't.id = $1',
  operator_invitations: `t.subject_key in (${keysOfPerson})`,
  invitations: `t.invited_by = $1 or t.accepted_by = $1 or lower(t.wallet_address) in (${keysOfPerson})
    or ${emailKeySql('t.email')} in (${keysOfPerson})`,
  beneficiaries: owned,
  payees: owned,
  spending_policies: `${owned} or $1 in (t.created_by, t.changed_by, t.pending_change_by) or $1 = any(t.approver_ids)`,
  receipt_claims:
    't.owner_id in (select id from payments where account_id = $1 union all select id from topups where account_id = $1)',
  ledger_accounts: 't.owner_id = $1',
  audit_log: 't.account_id = $1 or t.subject_id = $1',
}

type Table = { table: string; condition: string; secret: string[] }

/** All tables with one of these columns, which name an account, also those of later releases, and the tables above. */
const accountTablesSql = `
  select c.table_name::text as table,
    coalesce($1::jsonb ->> c.table_name::text,
      string_agg(format('t.%I = $1', c.column_name), ' or ') filter (where names)) as condition,
    coalesce(array_agg(c.column_name::text order by c.column_name) filter (where c.data_type = 'bytea'), '{}') as secret
  from information_schema.columns c join pg_class on pg_class.oid = format('%I.%I', c.table_schema, c.table_name)::regclass,
    lateral (select c.data_type = 'uuid' and c.column_name in ('account_id', 'owning_account_id', 'customer_account_id',
      'initiator_account_id', 'created_by', 'requested_by') as names) as account
  where c.table_schema = 'public' and relkind in ('r', 'p') and not relispartition
  group by c.table_name having bool_or(names) or $1::jsonb ? c.table_name::text order by c.table_name`

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

const writeTable = async (tx: Tx, at: Console, { table, condition, secret }: Table, id: Uuid): Promise<void> => {
  await write(`,\n"${table}": [`)
  const text = `select to_jsonb(t) - $2::text[] as row from ${table} t where ${condition}`
  await tx.query(`declare person_${table} no scroll cursor for ${text}`, [id, secret])
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
    const tables = await tx.query<Table>(accountTablesSql, [JSON.stringify(accountConditions)])
    const withheld = Object.fromEntries(tables.flatMap(({ table, secret }) => (secret.length > 0 ? [[table, secret]] : [])))
    const head = { account_id: formatId('account', id), exported_at: tx.at.toISOString(), withheld }
    await write(JSON.stringify(head, null, 2).replace(/\n}$/, ''))
    for (const table of tables) await writeTable(tx, at, table, id)
    await write('\n}\n')
  })
}
