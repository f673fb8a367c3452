/** Result of comparing a payee's name with the rail's. `unverified`: not queried. `unavailable`: the rail returned no name. */
export const verificationStatuses = ['unverified', 'match', 'close_match', 'no_match', 'unavailable'] as const
export type VerificationStatus = (typeof verificationStatuses)[number]

/** Source of the rail's name: a lookup or a payment. `daily_limit`: not queried, because the daily limit was reached. */
export const nameSources = ['lookup', 'payment', 'daily_limit'] as const
export type NameSource = (typeof nameSources)[number]
