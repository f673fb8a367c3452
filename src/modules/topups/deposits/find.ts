import { secondsAfter } from '../../../lib/clock.ts'
import { collectionRail, providerOf } from '../../../lib/rail-names.ts'
import type { Deps } from '../deps.ts'
import { takeListedDeposits } from './listed.ts'
import { hasOpenDeposits } from './queries.ts'
import type { SettleDeps } from './settle.ts'

const behindSeconds = 3 * 3_600

/** Looks for deposits whose notice was lost in the provider's list of the last hours. Older ones are found when their day is compared. */
export const findLostDeposits = async (deps: SettleDeps & Pick<Deps, 'clock' | 'rails' | 'vault'>): Promise<void> => {
  const { collection } = deps.rails
  if (!collection || !(await hasOpenDeposits(deps.db))) return
  const now = deps.clock.now()
  const listed = await collection.listPaidIn({ start: secondsAfter(now, -behindSeconds), end: now })
  if (listed === undefined) throw new Error('the provider did not list what was paid in')
  await takeListedDeposits(deps, providerOf(collectionRail), listed, 'list')
}
