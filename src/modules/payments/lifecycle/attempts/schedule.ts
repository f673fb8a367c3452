/**
 * When the rail is asked next about an attempt without an outcome, by how often it was asked: soon at first, then more and more
 * rarely, but never not at all. Silence ends nothing.
 */
const askAfterSeconds = [30, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800] as const
const askAtLeastEverySeconds = 21_600

export const secondsToNextQuery = (queriesMade: number): number => askAfterSeconds[queriesMade] ?? askAtLeastEverySeconds

/** Between recording an attempt and taking the right to send it. Who comes later finds that it is not sent any more. */
export const claimWithinSeconds = 15

/** With the right to send, the call to the rail begins within this time or not at all. */
export const sendWithinSeconds = 10

/**
 * How long a send may be under way before its attempt is taken for lost: what it takes to begin, and the longest answer. Too early
 * would be harmless, the answer is recorded whenever it comes.
 */
export const sendGraceSeconds = (railTimeoutMs: number): number => sendWithinSeconds + Math.ceil(railTimeoutMs / 1000) + 5

/** A send that never left is tried again after these waits; after the last it has failed. */
const retryAfterSeconds = [5, 15, 45, 120, 300, 600] as const

/** Undefined: that was the last try. */
export const secondsToNextTry = (triesSoFar: number): number | undefined => retryAfterSeconds[triesSoFar - 1]

/** A payment that was taken by the rail and never heard of again is an operator's business from here on. */
export const silenceSeconds = 900

/** A customer who was asked to pay in a day ago has not: a delivery would still count, but the rail is no longer asked. */
export const askAboutTopupsForSeconds = 86_400
