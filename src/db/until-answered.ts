import { setTimeout as wait } from 'node:timers/promises'
import { Refusal } from '../lib/errors.ts'
import { isUnavailable } from './errors.ts'

const patienceMs = 30_000
const pauseMs = 200

const isAway = (error: unknown): boolean => isUnavailable(error) || (error instanceof Refusal && error.code === 'unavailable')

/**
 * For a start, whose work may be done again: a connection that is reset, or a server that starts up beside us, is no reason to give up.
 * `worth`: which of these failures are waited out.
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
