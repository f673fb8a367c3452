import { createHmac } from 'node:crypto'
import { StartupError } from '../lib/errors.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import type { KeyRing } from '../lib/key-ring.ts'
import { withClient } from './start.ts'

/** Settings that must match the data, the keys of each ring, and whether payments have fees. */
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
 * Compares the settings with the data before any write, because a payment in the wrong currency or sealed under a lost key cannot
 * be repaired. The first start records the settings. Returns the installation's id.
 * @throws StartupError with a message for the operator
 */
export const checkInstallation = (url: string, given: InstallationSettings): Promise<Uuid> =>
  withClient(url, async (client) => {
    // An error closes the connection, which rolls back the transaction.
    await client.query('begin')
    // If several processes start for the first time at once, only one of them writes.
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
    // After `rotate-keys` an older key may stay configured for a while: recording it again would make it required forever.
    const added = configured.filter(({ ring, isCurrent }) => isCurrent || !kept.rows.some((key) => key.ring === ring))
    for (const { ring, keyId, checkValue } of added)
      await client.query(
        `insert into installation_keys (ring, key_id, check_value, created_at) values ($1, $2, $3, now()) on conflict do nothing`,
        [ring, keyId, checkValue],
      )
    await client.query('commit')
    return stored.id
  })
