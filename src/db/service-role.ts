import { StartupError } from '../lib/errors.ts'
import { withClient } from './start.ts'

/** Revokes the privileges that a table's triggers always refuse. `tgtype` bits (pg_trigger.h): 8 DELETE, 16 UPDATE, 32 TRUNCATE. */
const refusedRights = `select format('revoke %s on %s from %I', concat_ws(', ', case when tgtype & 8 > 0 then 'delete' end,
   case when tgtype & 16 > 0 then 'update' end, case when tgtype & 32 > 0 then 'truncate' end), tgrelid::regclass, $1::text) as revoke
  from pg_trigger where tgfoid = 'refuse_change'::regproc`

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
    await client.query(`begin;
      grant usage on schema public, drizzle to ${name};
      grant select on drizzle.__drizzle_migrations to ${name};
      grant select, insert, update, delete on all tables in schema public to ${name};
      grant usage, select on all sequences in schema public to ${name};
      grant execute on function create_periods(text, text, timestamptz, timestamptz), drop_periods(text, timestamptz, boolean) to ${name}`)
    const { rows } = await client.query<{ revoke: string }>(refusedRights, [role])
    await client.query([...rows.map(({ revoke }) => revoke), 'commit'].join(';\n'))
  })
