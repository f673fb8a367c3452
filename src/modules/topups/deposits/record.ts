import type { Vault } from '../../../auth/vault.ts'
import type { Db } from '../../../db/client.ts'
import { prepareInsertOnce } from '../../../db/prepare-write.ts'
import { deposits } from '../../../db/tables/deposits.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { type DepositRail, providerOf } from '../../../lib/rail-names.ts'
import type { DepositNotice } from '../../../rails/rail.ts'
import type { Deps } from '../deps.ts'
import { knownReceipts } from './queries.ts'

const insertRow = prepareInsertOnce('deposits.insert', deposits)

/** The context that a notice's sealed body is bound to. */
export const depositContext = (id: Uuid): readonly string[] => ['deposit', id]

/** What told of a deposit: the notice's text, or a list of the provider. */
export type Told = { source: 'notice'; body: string } | { source: 'list' | 'statement' }

const sealed = (vault: Vault, id: Uuid, told: Told) => {
  if (told.source !== 'notice') return {}
  const { ciphertext, keyId } = vault.seal(told.body, depositContext(id))
  return { bodyCiphertext: ciphertext, bodyKeyId: keyId }
}

/** Stores a deposit once, however often it is told. The id is that of the new row; undefined when it was told before. */
export const recordDeposit = async (
  db: Db,
  deps: Pick<Deps, 'clock' | 'config' | 'vault'>,
  rail: DepositRail,
  { receipt, at, amountMinor, reference, payer }: DepositNotice,
  told: Told,
): Promise<Uuid | undefined> => {
  if ((await knownReceipts(db, providerOf(rail), [receipt])).size > 0) return undefined
  const id = newId()
  const row: typeof deposits.$inferInsert = {
    id,
    rail,
    provider: providerOf(rail),
    receipt,
    amountMinor,
    currency: deps.config.CURRENCY,
    reference,
    payerName: payer.name,
    state: 'received',
    source: told.source,
    paidAt: at,
    receivedAt: deps.clock.now(),
    ...sealed(deps.vault, id, told),
  }
  return (await insertRow(db, row)) ? id : undefined
}
