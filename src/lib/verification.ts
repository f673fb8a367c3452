/** The comparison of a payee's name with the rail's. `unverified`: not asked. `unavailable`: the rail gave no name. */
export const verificationStatuses = ['unverified', 'match', 'close_match', 'no_match', 'unavailable'] as const
export type VerificationStatus = (typeof verificationStatuses)[number]

/** The source of the rail's name: a lookup, or a payment. `daily_limit`: not asked. */
export const nameSources = ['lookup', 'payment', 'daily_limit'] as const
export type NameSource = (typeof nameSources)[number]
