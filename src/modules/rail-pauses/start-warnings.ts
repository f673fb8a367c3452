import { payouts } from '../../rails/definitions.ts'
import type { Deps } from './deps.ts'
import { untestedRepeats } from './duplicate-checks.ts'

/** A setting that waits for its test. */
export const warnOfUntestedRepeats = async ({ db, logger, rails }: Pick<Deps, 'db' | 'logger' | 'rails'>): Promise<void> => {
  for (const rail of await untestedRepeats(db, rails)) {
    const { repeat } = payouts[rail]
    if (repeat !== 'pays_again')
      logger.warn({ rail }, `${repeat.setting} has no effect yet: run npm run admin -- rails check --duplicate <your phone>`)
  }
}
