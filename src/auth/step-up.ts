import { secondsAfter } from '../lib/clock.ts'
import { Refusal } from '../lib/errors.ts'
import type { Proof } from './principal.ts'

export const proofMaxAgeSeconds = 600

const byToken = 'A dashboard token cannot do this: do it in the session that issued it.'

/** @throws 403 `step_up_required` where the person has not proven who they are within the last ten minutes */
export const requireFreshProof = (proof: Proof, now: Date): void => {
  if (proof === 'not_needed') return
  const provenAt = proof === 'never' ? null : proof.at
  if (provenAt && secondsAfter(provenAt, proofMaxAgeSeconds) > now) return
  throw new Refusal('step_up_required', {
    ...(provenAt === null && { message: byToken }),
    details: { max_age_seconds: proofMaxAgeSeconds, proven_at: provenAt?.toISOString() ?? null },
  })
}
