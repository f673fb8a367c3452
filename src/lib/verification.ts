/** What is known about whose number a payee's is. `unverified`: nobody was asked. `unavailable`: the rail gave no name. */
export const verificationStatuses = ['unverified', 'match', 'close_match', 'no_match', 'unavailable'] as const
export type VerificationStatus = (typeof verificationStatuses)[number]

/** Where a reported name is from: the rail was asked for it, or reported it with a payment. `daily_limit`: the rail was not asked. */
export const nameSources = ['lookup', 'payment', 'daily_limit'] as const
export type NameSource = (typeof nameSources)[number]
