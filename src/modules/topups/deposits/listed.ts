import { readDepositCode } from '../../../lib/deposit-code.ts'
import { depositRailOf, type Provider } from '../../../lib/rail-names.ts'
import type { Movement } from '../../../rails/rail.ts'
import type { Deps } from '../deps.ts'
import { knownReceipts } from './queries.ts'
import { recordDeposit } from './record.ts'
import { type SettleDeps, settleDeposit } from './settle.ts'

/** Books the deposits that a provider lists and never told: those with an account number of ours. Returns how many were new. */
export const takeListedDeposits = async (
  deps: SettleDeps & Pick<Deps, 'clock' | 'vault'>,
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
  for (const notice of named.filter(({ receipt }) => !known.has(receipt))) {
    const id = await recordDeposit(deps.db, deps, rail, notice, { source })
    if (id === undefined) continue
    taken += 1
    await settleDeposit(deps, id)
  }
  return taken
}
