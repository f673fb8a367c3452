import { secondsAfter } from '../lib/clock.ts'
import { Refusal } from '../lib/errors.ts'

/** An administrator's act that changes something needs a proof that is not older. */
const maxAgeSeconds = 600

/** @throws 403 `step_up_required` where the person has not proven who they are within the last ten minutes */
export const requireFreshProof = (provenAt: Date | null, now: Date): void => {
  if (provenAt && secondsAfter(provenAt, maxAgeSeconds) > now) return
  throw new Refusal('step_up_required', {
    details: { max_age_seconds: maxAgeSeconds, ...(provenAt && { proven_at: provenAt.toISOString() }) },
  })
}
