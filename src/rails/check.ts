import type { Clock } from '../lib/clock.ts'

/** One requirement of a rail, and what is missing, in a sentence; null when it is met. */
export type RailCheck = { requirement: string; problem: string | null }

const mostSkewSeconds = 120

/** Whether our clock agrees with the provider's: a password of another minute is refused. */
export const checkClock = async (baseUrl: string, clock: Clock, timeoutMs: number): Promise<RailCheck> => {
  const requirement = `the clock agrees with ${new URL(baseUrl).host}`
  const answer = await fetch(baseUrl, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) }).catch(
    () => undefined,
  )
  const providerTime = Date.parse(answer?.headers.get('date') ?? '')
  if (Number.isNaN(providerTime))
    return { requirement, problem: 'the provider could not be reached, or did not say what time it has' }
  const skewSeconds = Math.abs(providerTime - clock.now().getTime()) / 1000
  return {
    requirement,
    problem: skewSeconds <= mostSkewSeconds ? null : `it differs by ${Math.round(skewSeconds)} s: set this machine's clock`,
  }
}

/** Providers deliver over the internet, to https. */
export const checkCallbackUrl = (url: string, isLoopback: boolean): RailCheck => {
  const requirement = `callbacks are delivered to ${url}`
  if (isLoopback)
    return { requirement, problem: 'the address is on this machine, where no provider can reach it: set OPERATOR_URL' }
  return {
    requirement,
    problem: url.startsWith('https://') ? null : 'providers deliver to https:// addresses only: set OPERATOR_URL',
  }
}
