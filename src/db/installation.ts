import { createHmac } from 'node:crypto'
import type { KeyRing } from '../lib/key-ring.ts'
import { StartupError } from '../lib/startup-error.ts'
import { newUuid, type Uuid } from '../lib/uuid.ts'
import { withStartClient } from './start-client.ts'

/** The settings that must fit the data, and the keys of each ring. */
export type Fitting = { currency: string; rings: Readonly<Record<string, KeyRing | undefined>> }

type StoredKey = { ring: string; keyId: string; checkValue: Buffer }

const checkValueOf = (bytes: Uint8Array): Buffer => createHmac('sha256', bytes).update('payments-service/installation').digest()

const keysOf = ({ rings }: Fitting): StoredKey[] =>
  Object.entries(rings).flatMap(([ring, keys]) =>
    [...(keys?.all.values() ?? [])].map(({ id, bytes }) => ({ ring, keyId: id, checkValue: checkValueOf(bytes) })),
  )

const refuse = (sentence: string): never => {
  throw new StartupError(sentence)
}

const compareKeys = (stored: readonly StoredKey[], configured: readonly StoredKey[]): void => {
  for (const { ring, keyId, checkValue } of stored) {
    const own = configured.find((key) => key.ring === ring && key.keyId === keyId)
    if (!own) refuse(`${ring} lacks the key "${keyId}", under which data are stored: put it back.`)
    else if (!own.checkValue.equals(checkValue))
      refuse(`${ring} has another key under the name "${keyId}" than the one under which data are stored: put that one back.`)
  }
}

/**
 * Compares the settings with the data, and names the data's installation. At the first start the data take them over. Run before anything
 * is written: a payment in another currency, or sealed under a key that nobody has, could not be repaired.
 * @throws StartupError with the sentence for the operator
 */
export const fitInstallation = (url: string, given: Fitting): Promise<Uuid> =>
  withStartClient(url, async (client) => {
    await client.query('begin')
    // Of several processes at the first start one writes, and the others compare themselves with it.
    await client.query(`insert into installation (id, currency, created_at) values ($1, $2, now()) on conflict do nothing`, [
      newUuid(),
      given.currency,
    ])
    const { rows } = await client.query<{ id: Uuid; currency: string }>('select id, currency from installation')
    const stored = rows[0] ?? refuse('The database has no installation: it is not of this release.')
    if (stored.currency !== given.currency)
      refuse(
        `CURRENCY is ${given.currency}, but the amounts in the database are ${stored.currency}: set CURRENCY=${stored.currency}, or use another database.`,
      )
    const configured = keysOf(given)
    const kept = await client.query<StoredKey>(
      'select ring, key_id as "keyId", check_value as "checkValue" from installation_keys order by created_at, key_id',
    )
    compareKeys(kept.rows, configured)
    for (const { ring, keyId, checkValue } of configured)
      await client.query(
        `insert into installation_keys (ring, key_id, check_value, created_at) values ($1, $2, $3, now()) on conflict do nothing`,
        [ring, keyId, checkValue],
      )
    await client.query('commit')
    return stored.id
  })
