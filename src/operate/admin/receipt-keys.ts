import { randomBytes } from 'node:crypto'
import { inTx } from '../../db/client.ts'
import { presentKeys } from '../../modules/proof/present.ts'
import { listSigningKeys, retireSigningKey } from '../../modules/proof/signing-keys.ts'
import { type Arguments, UsageError } from './arguments.ts'
import type { Console } from './console.ts'

/** An entry for a key ring. It is named by its day, and by chance: ids are never used again. */
const makeKey =
  (first: string) =>
  async ({ deps }: Console): Promise<string> => {
    const day = deps.clock.now().toISOString().slice(0, 10).replaceAll('-', '')
    return `${first}${day}-${randomBytes(3).toString('hex')}:${randomBytes(32).toString('base64')}`
  }

const retire = async ({ deps, operator }: Console, { words: [id, ...more] }: Arguments): Promise<unknown> => {
  if (id === undefined || more.length > 0) throw new UsageError('receipt-keys retire <id>: the id of one key')
  await inTx(deps.db, (tx) => retireSigningKey(tx, deps.receiptKeys, operator, id))
  return presentKeys(await listSigningKeys(deps.db))
}

export const receiptKeyCommands = {
  'receipt-keys list': async ({ deps }: Console) => presentKeys(await listSigningKeys(deps.db)),
  'receipt-keys new': makeKey('r'),
  'receipt-keys retire': retire,
  // Any 32 bytes are a private key of P-256; the public one follows from it.
  'push-keys': makeKey('p'),
}
