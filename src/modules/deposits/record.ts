import { and, eq, sql } from 'drizzle-orm'
import type { Vault } from '../../auth/vault.ts'
import type { Db } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertOnce } from '../../db/prepare-write.ts'
import { deposits } from '../../db/tables/deposits.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { readDepositCode } from '../../lib/deposit-code.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { collectionRail, type DepositRail, depositRailOf, type Provider, providerOf } from '../../lib/rail-names.ts'
import { receiptKey } from '../../lib/text.ts'
import type { DepositNotice, Movement } from '../../rails/rail.ts'
import type { Parts } from '../parts.ts'
import { settleDeposit } from './settle.ts'

const withReceipts = prepare('deposits.with_receipts', { provider: 'text', receipts: 'text[]' }, (orm, at) =>
  orm
    .select({ receipt: deposits.receipt })
    .from(deposits)
    .where(and(eq(deposits.provider, at.provider), sql`${deposits.receipt} = any(${at.receipts})`)),
)

/** By their keys. */
const knownReceipts = async (db: Db, provider: Provider, told: readonly { receipt: string }[]): Promise<string[]> => {
  const receipts = told.flatMap(({ receipt }) => [receipt, receipt.toUpperCase(), receipt.toLowerCase()])
  return (await db.run(withReceipts, { provider, receipts })).map(({ receipt }) => receiptKey(receipt))
}

export const depositContext = (id: Uuid): readonly string[] => ['deposit', id]

type Told = { source: 'notice'; body: string } | { source: 'list' | 'statement' }

const sealed = (vault: Vault, id: Uuid, told: Told) => {
  if (told.source !== 'notice') return {}
  const { ciphertext, keyId } = vault.seal(told.body, depositContext(id))
  return { bodyCiphertext: ciphertext, bodyKeyId: keyId }
}

type Recording = Pick<Parts, 'clock' | 'config' | 'db' | 'vault'>

/** Once, however often it is told. Undefined when it was told before. */
export const recordDeposit = async (
  { clock, config, db, vault }: Recording,
  rail: DepositRail,
  { receipt, at, amountMinor, reference, payer }: DepositNotice,
  told: Told,
): Promise<Uuid | undefined> => {
  const provider = providerOf(rail)
  if ((await knownReceipts(db, provider, [{ receipt }])).length > 0) return undefined
  const id = newId()
  const isNew = await insertOnce(db, deposits, {
    ...{ id, rail, provider, receipt, amountMinor, reference, payerName: payer.name, source: told.source, paidAt: at },
    currency: config.CURRENCY,
    state: 'received',
    receivedAt: clock.now(),
    ...sealed(vault, id, told),
  })
  return isNew ? id : undefined
}

/** One by one: what is stored and not booked is a difference to whoever compares meanwhile. */
export const takeListedDeposits = async (
  deps: Recording,
  provider: Provider,
  movements: readonly Movement[],
  source: 'list' | 'statement',
): Promise<void> => {
  const rail = depositRailOf(provider)
  if (!rail) return
  const named = movements.flatMap(({ receipt, at, amountMinor, references }) => {
    const reference = amountMinor > 0n ? references.map(readDepositCode).find((code) => code !== undefined) : undefined
    return reference === undefined ? [] : [{ receipt, at, amountMinor, reference, payer: { name: null, phone: null } }]
  })
  if (named.length === 0) return
  const known = new Set(await knownReceipts(deps.db, provider, named))
  for (const notice of named.filter(({ receipt }) => !known.has(receiptKey(receipt)))) {
    const id = await recordDeposit(deps, rail, notice, { source })
    if (id !== undefined) await settleDeposit(deps.db, id)
  }
}

const hasOpenDeposits = async (db: Db): Promise<boolean> => {
  const [open] = await db.query<{ yes: boolean }>(
    `select exists (select from topups where status in ('pending', 'expired') and deposit_code is not null) as yes`,
  )
  return open?.yes ?? false
}

const behindSeconds = 3 * 3_600

/** In the provider's list of the last hours. Older ones are found when their day is compared. */
export const findLostDeposits = async (deps: Parts): Promise<void> => {
  const { collection } = deps.rails
  if (!collection || !(await hasOpenDeposits(deps.db))) return
  const now = deps.clock.now()
  const listed = await collection.listPaidIn({ start: secondsAfter(now, -behindSeconds), end: now })
  if (listed === undefined) throw new Error('the provider did not list what was paid in')
  await takeListedDeposits(deps, providerOf(collectionRail), listed, 'list')
}
