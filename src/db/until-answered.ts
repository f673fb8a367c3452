import { setTimeout as wait } from 'node:timers/promises'
import { Refusal } from '../lib/errors.ts'
import { isUnavailable } from './errors.ts'

const patienceMs = 30_000
const pauseMs = 200

const isAway = (error: unknown): boolean => isUnavailable(error) || (error instanceof Refusal && error.code === 'unavailable')

/**
 * For work at start that may be repeated: it waits for a connection that was reset, or for a server that is still starting. `worth`: which
 * of these failures are waited out.
 */
export const untilAnswered = async <T>(work: () => Promise<T>, worth = isAway): Promise<T> => {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!worth(error) || performance.now() > giveUpAt) throw error
      await wait(pauseMs)
    }
  }
}
