import { createHash, randomBytes } from 'node:crypto'
import { type Clock, secondsAfter } from '../../lib/clock.ts'
import type { SandboxPerson } from './identity-people.ts'

/** An authorization request's parameters, and the person that was chosen on the page. */
export type Consent = { person: SandboxPerson; redirectUri: string; challenge: string; nonce: string | null }

const codeSeconds = 60

/** Authorization codes: valid once, for a short time, and only with the verifier. */
export const createCodes = (clock: Clock) => {
  const waiting = new Map<string, Consent & { until: Date }>()
  return {
    issue: (consent: Consent): string => {
      const code = randomBytes(20).toString('base64url')
      waiting.set(code, { ...consent, until: secondsAfter(clock.now(), codeSeconds) })
      return code
    },
    redeem: (code: string, redirectUri: string, verifier: string): Consent | undefined => {
      const consent = waiting.get(code)
      waiting.delete(code)
      if (!consent || consent.until <= clock.now() || consent.redirectUri !== redirectUri) return undefined
      return createHash('sha256').update(verifier).digest('base64url') === consent.challenge ? consent : undefined
    },
  }
}

export type Codes = ReturnType<typeof createCodes>
