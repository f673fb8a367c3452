import type pg from 'pg'

type Column = { table: string; name: string; type: string; nullable: boolean; generated: boolean; values: string | null }

/** `values`: the values that a check of this column alone allows. */
const columns = `
  select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type, not a.attnotnull as nullable,
    a.attgenerated <> '' or a.attidentity <> '' as generated,
    (select (regexp_match(pg_get_constraintdef(k.oid), 'ANY \\(\\(?ARRAY\\[([^\\]]*)\\]'))[1] from pg_constraint k
     where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum] limit 1) as values
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0 and not a.attisdropped
  order by c.relname, a.attnum`

const ofType: Readonly<Record<string, string>> = {
  // Ids have the current time, written once for all rows: that is most of an id.
  uuid: 'overlay(gen_random_uuid()::text placing (select left(first_id_at(now())::text, 13)) from 1)::uuid',
  text: `'text ' || n`,
  boolean: 'n % 2 = 0',
  bytea: 'sha256(int4send(n))',
  xid8: 'n::text::xid8',
  date: `current_date - n % 60`,
  'timestamp with time zone': `now() - n * interval '1 minute'`,
  json: `json '{}'`,
  jsonb: `jsonb '{}'`,
}

const sampleOf = ({ type, values }: Column): string => {
  if (type.endsWith('[]')) return `'{}'::${type}`
  if (values !== null && type === 'text') return `(array[${values}])[1 + n % cardinality(array[${values}])]`
  return ofType[type.replace(/\(\d+\)/, '')] ?? 'n'
}

const inserted = (table: string, of: readonly Column[], rows: number): string => {
  const given = of.filter(({ generated }) => !generated)
  const values = given.map((column) => (column.nullable ? `case when n % 3 > 0 then ${sampleOf(column)} end` : sampleOf(column)))
  return `insert into ${table} (${given.map(({ name }) => name).join(', ')}) select ${values.join(', ')} from generate_series(1, ${rows}) as n on conflict do nothing`
}

/**
 * Fills every table with rows of as many tenants, so that plans are made as for grown tables. Other constraints on rows are no
 * longer checked in this database.
 */
export const fillTables = async (client: pg.Client, rows: number): Promise<void> => {
  await client.query("set session_replication_role = 'replica'")
  const found = (await client.query<Column>(columns)).rows
  const checks = await client.query<{ drop: string }>(
    `select distinct format('alter table %s drop constraint if exists %I', conrelid::regclass, conname) as drop
     from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace and coninhcount = 0`,
  )
  for (const { drop } of checks.rows) await client.query(drop)
  for (const [table, of] of Map.groupBy(found, (column) => column.table)) await client.query(inserted(table, of, rows))
  await client.query('analyze')
}
