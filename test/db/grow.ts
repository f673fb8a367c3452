import pg from 'pg'
import { growDatabase } from './grown.ts'

/** `npm run grow -- <address of an empty, migrated database> [rows per table]`: for plans, sweeps, pages. Not for production. */
const [url, rows = '100000'] = process.argv.slice(2)
if (url === undefined || !/^[1-9]\d{0,6}$/.test(rows)) {
  console.error('npm run grow -- <address of an empty, migrated database> [rows of each table]')
  process.exit(1)
}
const client = new pg.Client({ connectionString: url })
await client.connect()
const { rows: found } = await client.query('select exists (select from accounts) as used')
if (found[0].used) {
  console.error('The database has accounts: its rows would be changed. Name an empty one.')
  process.exit(1)
}
await growDatabase(client, Number(rows))
await client.end()
console.log(`Every table has ${rows} rows.`)
