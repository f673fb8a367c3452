import type { Schemas } from '../../../../client/src/route-types.ts'
import { sumMinor } from '../../lib/words.ts'
import { tRecon } from './texts.ts'

type Line = Pick<Schemas['TrialBalance']['lines'][number], 'account' | 'debits_minor' | 'credits_minor'>

/**
 * Totals in the books of money at the providers. Suspense money went through the same two accounts, so the remainder already
 * includes it.
 */
export const clearingTotals = (lines: readonly Line[]): (readonly [string, string])[] => {
  const balanceOf = (account: string): bigint => {
    const line = lines.find((each) => each.account === account)
    return line ? BigInt(line.debits_minor) - BigInt(line.credits_minor) : 0n
  }
  const received = balanceOf('topup_clearing').toString()
  const sent = balanceOf('rail_clearing').toString()
  return [
    [tRecon('clearing.received'), received],
    [tRecon('clearing.sent'), sent],
    [tRecon('clearing.left'), sumMinor([received, sent])],
    [tRecon('clearing.suspense'), (-balanceOf('suspense')).toString()],
  ]
}
