import { longestRequestMs } from '../../../../rails/rail.ts'

/**
 * When the rail is queried next about an attempt without an outcome, by how often it was queried: soon at first, then less and less often,
 * but never stopping. A rail that does not answer ends nothing.
 */
const queryDelaysSeconds = [30, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800] as const
const longestQueryDelaySeconds = 21_600

export const secondsToNextQuery = (queriesMade: number): number => queryDelaysSeconds[queriesMade] ?? longestQueryDelaySeconds

/** The longest time between recording an attempt and taking the right to send it. A later sender finds the attempt marked as not sent. */
export const claimWithinSeconds = 15

/** From recording an attempt to the first byte of its request: the token, the connection and the right to send. */
export const sendWithinSeconds = 10

/**
 * How long a send may be under way before its attempt counts as lost: the time to begin, and the longest answer. A value that is too small
 * does no harm: the answer is recorded whenever it comes.
 */
export const sendGraceSeconds = sendWithinSeconds + longestRequestMs / 1000 + 5

/** A provider states no time after which it forgets an order's id: within this one it is asked to take the same order again. */
export const repeatWithinSeconds = 3_600

/** A send that never reached the provider is tried again after these waits; after the last one it has failed. */
const retryAfterSeconds = [5, 15, 45, 120, 300, 600] as const

/** While the rail is down, its time to wait ends a payment and not the number of tries (`give-up.ts`). */
const retryWhileDownSeconds = 60

/** Undefined after the last try. */
export const secondsToNextTry = (triesSoFar: number, isRailDown: boolean): number | undefined =>
  retryAfterSeconds[triesSoFar - 1] ?? (isRailDown ? retryWhileDownSeconds : undefined)

/** From this age on, an alert tells an operator about a payment that the rail accepted and never reported on. */
export const silenceSeconds = 900

/** After a day a customer no longer pays on a prompt: a delivery would still count, but the rail is no longer queried. */
export const queryTopupsForSeconds = 86_400

/** How long a payment waits for the chain of a wallet that approved it: its money is held during this time. For a rail: PAYMENT_WAIT_MINUTES. */
export const longestChainWaitSeconds = 45 * 60

/** Until the chain of a wallet that approved a payment is asked again. */
export const secondsToNextChainQuery = 30
