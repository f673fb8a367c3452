import { StartupError } from '../lib/errors.ts'
import { withClient } from './start.ts'

/** Bits of `pg_trigger.tgtype`. */
const refusedBy = [
  [8, 'delete'],
  [16, 'update'],
  [32, 'truncate'],
] as const

/**
 * Grants the running service's role its privileges. The tables' owner runs the migrations. The role can read and write rows,
 * except for the changes that triggers refuse (ledger, audit log). Idempotent; run it after each migration.
 * @throws StartupError if the role does not exist
 */
export const grantServiceRole = (url: string, role: string): Promise<void> =>
  withClient(url, async (client) => {
    const known = await client.query('select from pg_roles where rolname = $1', [role])
    if (known.rows.length === 0)
      throw new StartupError(
        `Role ${role} does not exist: create it (create role ${role} login password '…'), then run this again.`,
      )
    const name = client.escapeIdentifier(role)
    await client.query('begin')
    await client.query(`grant usage on schema public, drizzle to ${name}`)
    await client.query(`grant select on drizzle.__drizzle_migrations to ${name}`)
    await client.query(`grant select, insert, update, delete on all tables in schema public to ${name}`)
    await client.query(`grant usage, select on all sequences in schema public to ${name}`)
    await client.query(
      `grant execute on function create_periods(text, text, timestamptz, timestamptz), drop_periods(text, timestamptz, boolean) to ${name}`,
    )
    const { rows } = await client.query<{ table: string; type: number }>(
      `select tgrelid::regclass::text as table, tgtype::int as type from pg_trigger where tgfoid = 'refuse_change'::regproc`,
    )
    for (const { table, type } of rows) {
      const refused = refusedBy.flatMap(([bit, right]) => ((type & bit) === 0 ? [] : [right]))
      await client.query(`revoke ${refused.join(', ')} on ${table} from ${name}`)
    }
    await client.query('commit')
  })
