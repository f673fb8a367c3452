import { createHmac } from 'node:crypto'
import pg from 'pg'
import { StartupError } from '../lib/errors.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import type { KeyRing } from '../lib/key-ring.ts'
import { addressed } from './settings.ts'

/** Runs work on a connection of its own. An address alone gets the settings for work before the pool exists. */
export const withClient = async <T>(address: string | pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const config = typeof address === 'string' ? addressed(address) : address
  const client = new pg.Client({ application_name: 'payments-service-start', connectionTimeoutMillis: 5_000, ...config })
  // Without this listener, a broken connection would end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The settings that must fit the data, the keys of each ring, and whether payments have fees. */
export type InstallationSettings = { currency: string; rings: Readonly<Record<string, KeyRing | undefined>>; hasFees?: boolean }

type StoredKey = { ring: string; keyId: string; checkValue: Buffer }
type ConfiguredKey = StoredKey & { isCurrent: boolean }

const checkValueOf = (bytes: Uint8Array): Buffer => createHmac('sha256', bytes).update('payments-service/installation').digest()

const keysOf = ({ rings }: InstallationSettings): ConfiguredKey[] =>
  Object.entries(rings).flatMap(([ring, keys]) =>
    [...(keys?.all.values() ?? [])].map(({ id, bytes }) => ({
      ring,
      keyId: id,
      checkValue: checkValueOf(bytes),
      isCurrent: id === keys?.current.id,
    })),
  )

const refuse = (sentence: string): never => {
  throw new StartupError(sentence)
}

const compareKeys = (stored: readonly StoredKey[], configured: readonly StoredKey[]): void => {
  for (const { ring, keyId, checkValue } of stored) {
    const own = configured.find((key) => key.ring === ring && key.keyId === keyId)
    if (!own) refuse(`${ring} lacks the key "${keyId}", which encrypts stored data: restore it.`)
    else if (!own.checkValue.equals(checkValue))
      refuse(`The key "${keyId}" in ${ring} is not the one that encrypts stored data: restore the original.`)
  }
}

/**
 * Compares the settings with the data, before any write: a payment in another currency, or sealed under a lost key, is beyond
 * repair. At the first start the data adopt the settings. Returns the installation's name.
 * @throws StartupError with the sentence for the operator
 */
export const checkInstallation = (url: string, given: InstallationSettings): Promise<Uuid> =>
  withClient(url, async (client) => {
    // A refusal closes the connection, which rolls back.
    await client.query('begin')
    // If several processes run the first start, one writes.
    await client.query(
      `insert into installation (id, currency, created_at, upgrade_finished_at) values ($1, $2, now(), now()) on conflict do nothing`,
      [newId(), given.currency],
    )
    const { rows } = await client.query<{ id: Uuid; currency: string; finishedAt: Date | null }>(
      'select id, currency, upgrade_finished_at as "finishedAt" from installation',
    )
    const stored = rows[0] ?? refuse('The database has no installation: it belongs to another release.')
    if (stored.currency !== given.currency)
      refuse(
        `CURRENCY is ${given.currency}, but the amounts in the database are ${stored.currency}: set CURRENCY=${stored.currency}, or use another database.`,
      )
    if (given.hasFees && stored.finishedAt === null)
      refuse(
        'FEES is set during an upgrade, but processes of the previous version do not charge fees: run npm run admin -- finish-upgrade when none is left, or unset FEES until then.',
      )
    const configured = keysOf(given)
    const kept = await client.query<StoredKey>(
      'select ring, key_id as "keyId", check_value as "checkValue" from installation_keys order by created_at, key_id',
    )
    compareKeys(kept.rows, configured)
    // Nothing new is written under an older key. After `rotate-keys` it may stay configured for a while: storing it again would
    // make it needed for ever.
    const added = configured.filter(({ ring, isCurrent }) => isCurrent || !kept.rows.some((key) => key.ring === ring))
    for (const { ring, keyId, checkValue } of added)
      await client.query(
        `insert into installation_keys (ring, key_id, check_value, created_at) values ($1, $2, $3, now()) on conflict do nothing`,
        [ring, keyId, checkValue],
      )
    await client.query('commit')
    return stored.id
  })

const newestIds = `
  select greatest((select transaction from audit_log order by transaction desc limit 1),
    (select transaction from events order by transaction desc limit 1))::text as newest,
    pg_snapshot_xmax(pg_current_snapshot())::text as next`

/** The ids that a busy second uses. */
const idsAtOnce = 100_000n

/**
 * Readers and seals follow the order of transaction ids. After a dump is restored to another server, rows may have ids ahead of
 * the server's: this uses them up. Returns how many.
 */
export const catchUpTransactionIds = (url: string): Promise<bigint> =>
  withClient(url, async (client) => {
    for (let used = 0n; ; ) {
      const { rows } = await client.query<{ newest: string | null; next: string }>(newestIds)
      const behind = rows[0]?.newest ? BigInt(rows[0].newest) - BigInt(rows[0].next) + 1n : 0n
      if (behind <= 0n) return used
      const count = behind < idsAtOnce ? behind : idsAtOnce
      await client.query(`do $$ begin for i in 1..${count} loop perform pg_current_xact_id(); commit; end loop; end $$`)
      used += count
    }
  })

/** Bits of `pg_trigger.tgtype`. */
const refusedBy = [
  [8, 'delete'],
  [16, 'update'],
  [32, 'truncate'],
] as const

/**
 * Grants the role of the running service its rights; the owner of the tables migrates. The role reads and writes rows, but has no
 * right to what a trigger refuses (the ledger, the audit log). Repeatable; run it after each migration.
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
