import { secondsAfter } from '../../../lib/clock.ts'
import type { AttemptRecord } from './attempts/queries.ts'
import { silenceSeconds } from './attempts/schedule.ts'

type Tried = Pick<AttemptRecord, 'state' | 'askedAt' | 'updatedAt'>

/**
 * From when on a person may say that a payment failed: its money is given back, and no answer that comes later takes it again. Null: the
 * rail must be asked first. `attempt` is the one that may have been sent; without one there is nothing to ask about.
 */
export const mayFailFrom = (attempt: Tried | undefined, unknownSince: Date): Date | null => {
  if (!attempt) return secondsAfter(unknownSince, silenceSeconds)
  // The provider has answered with what does not fit. It is not asked again, and may still correct itself.
  const asked = attempt.state === 'disputed' ? attempt.updatedAt : attempt.askedAt
  return asked && secondsAfter(asked, silenceSeconds)
}
