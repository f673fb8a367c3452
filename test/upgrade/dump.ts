import { gunzipSync, gzipSync } from 'node:zlib'
import type pg from 'pg'
import { migrate } from '../../src/db/migrate.ts'
import { connected } from '../harness/connected.ts'

/** A release's database. `about`: information for its reader. `statements`: run after the release's migrations. */
export type Dump<About> = { about: About; statements: readonly string[] }

const textsOf = async (client: pg.Client, text: string, values: unknown[] = []): Promise<string[]> =>
  (await client.query<{ text: string }>(text, values)).rows.map((row) => row.text)

/** Parts of partitioned tables that a running service created. */
const parts = `
  select format('create table if not exists %s partition of %s %s', c.oid::regclass, i.inhparent::regclass, pg_get_expr(c.relpartbound, c.oid)) as text
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where c.relkind = 'r' and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT' order by c.oid`

/** Roots of partitioned tables without their parts: rows find their part themselves. */
export const tables = `
  select c.relname as text from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by c.relname`

/** One INSERT per row, with every value in PostgreSQL's own form: the same bytes, microseconds and key order when read again. */
const inserts = async (client: pg.Client, table: string): Promise<string[]> => {
  const names = await textsOf(
    client,
    `select quote_ident(attname) as text from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [table],
  )
  const values = names.map((name) => `quote_nullable(${name}::text)`).join(', ')
  return textsOf(
    client,
    `select format('insert into ${table} (${names.join(', ')}) overriding system value values (%s)', concat_ws(', ', ${values})) as text from ${table} order by 1`,
  )
}

/** Dumps one moment. Needs none of PostgreSQL's programs: the server that npm installs has none. */
export const dumpDatabase = <About>(url: string, about: About): Promise<Dump<About>> =>
  connected(url, async (client) => {
    await client.query('begin isolation level repeatable read read only')
    const statements = await textsOf(client, parts)
    for (const table of await textsOf(client, tables)) statements.push(...(await inserts(client, table)))
    const sequences = `select format('select setval(%L, %s)', format('%I.%I', schemaname, sequencename), last_value) as text
      from pg_sequences where schemaname = 'public' and last_value is not null order by sequencename`
    statements.push(...(await textsOf(client, sequences)))
    return { about, statements }
  })

/** An SQL script. Its first line is a comment with information for the reader. A semicolon ends each statement's line. */
export const packDump = ({ about, statements }: Dump<unknown>): Buffer =>
  gzipSync(
    [
      `-- ${JSON.stringify(about)}`,
      "set session_replication_role = 'replica';",
      ...statements.map((one) => `${one};`),
      'reset session_replication_role;\n',
    ].join('\n'),
    { level: 9 },
  )

export const aboutDump = <About>(packed: Buffer): About => {
  const [first = ''] = gunzipSync(packed).toString('utf8').split('\n', 1)
  return JSON.parse(first.replace(/^-- /, ''))
}

/** Restores into an empty database: the release's migrations, then its rows. */
export const restoreDump = async (url: string, packed: Buffer, migrations: { folder?: string; last: string }): Promise<void> => {
  await migrate(url, { ...(migrations.folder && { folder: migrations.folder }), last: migrations.last })
  // The dump also has rows that the migrations themselves insert.
  await connected(url, async (client) => {
    const filled = await textsOf(client, tables)
    await client.query(`set session_replication_role = 'replica'`)
    for (const table of filled) await client.query(`delete from ${table}`)
    await client.query(gunzipSync(packed).toString('utf8'))
  })
}

/** Tables and columns with their types, the same on every version of PostgreSQL. */
export const describeSchema = (url: string): Promise<string> =>
  connected(url, async (client) =>
    (
      await textsOf(
        client,
        `select concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end) as text
         from pg_class c join pg_attribute a on a.attrelid = c.oid
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0 and not a.attisdropped
         order by c.relname, a.attname`,
      )
    ).join('\n'),
  )
