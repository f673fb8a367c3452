/** Whose number a payee's is. `unverified`: nobody was asked. `unavailable`: the rail gave no name. */
export const verificationStatuses = ['unverified', 'match', 'close_match', 'no_match', 'unavailable'] as const
export type VerificationStatus = (typeof verificationStatuses)[number]

/** The rail was asked for the name, or reported it with a payment. `daily_limit`: it was not asked. */
export const nameSources = ['lookup', 'payment', 'daily_limit'] as const
export type NameSource = (typeof nameSources)[number]
