import { randomBytes } from 'node:crypto'
import { type Clock, secondsAfter } from '../../lib/clock.ts'

export const tokenLifetimeSeconds = 3599

/** Issues and checks access tokens, and revokes them if a test needs a rejected token. */
export const createTokens = (clock: Clock) => {
  const expiryByToken = new Map<string, Date>()
  let issued = 0
  let onlyNewestIsValid = false
  return {
    issue: (): { value: string; until: Date } => {
      if (onlyNewestIsValid) expiryByToken.clear()
      const value = randomBytes(21).toString('base64url')
      const until = secondsAfter(clock.now(), tokenLifetimeSeconds)
      expiryByToken.set(value, until)
      issued += 1
      return { value, until }
    },
    accepts: (authorization: string | undefined): boolean => {
      const value = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1]
      const until = value === undefined ? undefined : expiryByToken.get(value)
      return until !== undefined && until > clock.now()
    },
    revokeAll: (): void => expiryByToken.clear(),
    /** One handbook states that a new token invalidates the previous one. */
    invalidatePreviousOnIssue: (): void => {
      onlyNewestIsValid = true
    },
    issued: (): number => issued,
  }
}

export type Tokens = ReturnType<typeof createTokens>
