import type { Vault } from '../../auth/vault.ts'
import { prepareInsertAll } from '../../db/prepare-write.ts'
import { deposits } from '../../db/tables/deposits.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { readDepositCode } from '../../lib/deposit-code.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { collectionRail, type DepositRail, depositRailOf, type Provider, providerOf } from '../../lib/rail-names.ts'
import { receiptKey } from '../../lib/text.ts'
import type { DepositNotice, Movement } from '../../rails/rail.ts'
import type { Parts } from '../parts.ts'
import { hasOpenDeposits, knownReceipts } from './queries.ts'
import { settleDeposit } from './settle.ts'

const insertRows = prepareInsertAll<typeof deposits, { id: Uuid }>(
  'deposits.insert',
  deposits,
  'on conflict do nothing returning id',
)

/** The context that a notice's sealed body is bound to. */
export const depositContext = (id: Uuid): readonly string[] => ['deposit', id]

/** What told of deposits: the notice's text, or a list of the provider. */
type Told = { source: 'notice'; body: string } | { source: 'list' | 'statement' }

const sealed = (vault: Vault, id: Uuid, told: Told) => {
  if (told.source !== 'notice') return {}
  const { ciphertext, keyId } = vault.seal(told.body, depositContext(id))
  return { bodyCiphertext: ciphertext, bodyKeyId: keyId }
}

type Recording = Pick<Parts, 'clock' | 'config' | 'db' | 'vault'>

/** Stores deposits once each, however often they are told. The ids are those of the new rows. */
export const recordDeposits = async (
  { clock, config, db, vault }: Recording,
  rail: DepositRail,
  notices: readonly DepositNotice[],
  told: Told,
): Promise<Uuid[]> => {
  if (notices.length === 0) return []
  const provider = providerOf(rail)
  const named = new Map(notices.map((notice) => [receiptKey(notice.receipt), notice]))
  for (const known of await knownReceipts(db, provider, [...named.values()])) named.delete(known)
  const rows = [...named.values()].map(({ receipt, at, amountMinor, reference, payer }) => {
    const id = newId()
    return {
      ...{ id, rail, provider, receipt, amountMinor, reference, payerName: payer.name, source: told.source, paidAt: at },
      currency: config.CURRENCY,
      state: 'received' as const,
      receivedAt: clock.now(),
      ...sealed(vault, id, told),
    }
  })
  return (await insertRows(db.query, rows)).map(({ id }) => id)
}

/** Books the deposits that a provider lists and never told: those with an account number of ours. */
export const takeListedDeposits = async (
  deps: Recording,
  provider: Provider,
  movements: readonly Movement[],
  source: 'list' | 'statement',
): Promise<void> => {
  const rail = depositRailOf(provider)
  if (!rail) return
  const notices = movements.flatMap(({ receipt, at, amountMinor, references }) => {
    const reference = amountMinor > 0n ? references.map(readDepositCode).find((code) => code !== undefined) : undefined
    return reference === undefined ? [] : [{ receipt, at, amountMinor, reference, payer: { name: null, phone: null } }]
  })
  for (const id of await recordDeposits(deps, rail, notices, { source })) await settleDeposit(deps.db, id)
}

const behindSeconds = 3 * 3_600

/** Looks for deposits whose notice was lost in the provider's list of the last hours. Older ones are found when their day is compared. */
export const findLostDeposits = async (deps: Parts): Promise<void> => {
  const { collection } = deps.rails
  if (!collection || !(await hasOpenDeposits(deps.db))) return
  const now = deps.clock.now()
  const listed = await collection.listPaidIn({ start: secondsAfter(now, -behindSeconds), end: now })
  if (listed === undefined) throw new Error('the provider did not list what was paid in')
  await takeListedDeposits(deps, providerOf(collectionRail), listed, 'list')
}
