import { secondsAfter } from '../../../lib/clock.ts'
import type { AttemptRecord } from './attempts/queries.ts'
import { silenceSeconds } from './attempts/schedule.ts'

/**
 * From when on a person may say that a payment failed: its money is given back, and no answer that comes later takes it again. Null: the
 * rail must be asked first. `attempt` is the one that may have been sent; without one there is nothing to ask about.
 */
export const mayFailFrom = (attempt: Pick<AttemptRecord, 'state' | 'askedAt'> | undefined, unknownSince: Date): Date | null => {
  // The provider has answered, with what does not fit.
  if (attempt?.state === 'disputed') return unknownSince
  const asked = attempt ? attempt.askedAt : unknownSince
  return asked && secondsAfter(asked, silenceSeconds)
}
