import { secondsAfter } from '../../../lib/clock.ts'
import { readDepositCode } from '../../../lib/deposit-code.ts'
import { collectionRail, depositRailOf, type Provider, providerOf } from '../../../lib/rail-names.ts'
import { receiptKey } from '../../../lib/text.ts'
import type { Movement } from '../../../rails/rail.ts'
import type { Deps } from '../deps.ts'
import { hasOpenDeposits, knownReceipts } from './queries.ts'
import { recordDeposit } from './record.ts'
import { settleDeposit } from './settle.ts'

/** Books the deposits that a provider lists and never told: those with an account number of ours. Returns how many were new. */
export const takeListedDeposits = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'vault'>,
  provider: Provider,
  movements: readonly Movement[],
  source: 'list' | 'statement',
): Promise<number> => {
  const rail = depositRailOf(provider)
  if (!rail) return 0
  const named = movements.flatMap(({ receipt, at, amountMinor, references }) => {
    const reference = amountMinor > 0n ? references.map(readDepositCode).find((code) => code !== undefined) : undefined
    return reference === undefined ? [] : [{ receipt, at, amountMinor, reference, payer: { name: null, phone: null } }]
  })
  if (named.length === 0) return 0
  const known = await knownReceipts(
    deps.db,
    provider,
    named.map(({ receipt }) => receipt),
  )
  let taken = 0
  for (const notice of named.filter(({ receipt }) => !known.has(receiptKey(receipt)))) {
    const id = await recordDeposit(deps.db, deps, rail, notice, { source })
    if (id === undefined) continue
    taken += 1
    await settleDeposit(deps.db, id)
  }
  return taken
}

const behindSeconds = 3 * 3_600

/** Looks for deposits whose notice was lost in the provider's list of the last hours. Older ones are found when their day is compared. */
export const findLostDeposits = async (deps: Pick<Deps, 'clock' | 'config' | 'db' | 'rails' | 'vault'>): Promise<void> => {
  const { collection } = deps.rails
  if (!collection || !(await hasOpenDeposits(deps.db))) return
  const now = deps.clock.now()
  const listed = await collection.listPaidIn({ start: secondsAfter(now, -behindSeconds), end: now })
  if (listed === undefined) throw new Error('the provider did not list what was paid in')
  await takeListedDeposits(deps, providerOf(collectionRail), listed, 'list')
}
