/** How money leaves: the `payment_rail` of a beneficiary. */
export const railNames = ['MPESA_B2B', 'MPESA_B2C', 'PESALINK'] as const
export type RailName = (typeof railNames)[number]

/** How a top-up comes in. */
export const collectionRail = 'MPESA_STK'

/** Every rail that money moves by, in or out. */
export const allRails = [...railNames, collectionRail] as const
export type AnyRail = (typeof allRails)[number]

/** The rails of each provider: receipts are unique and statements are made for each provider, over all of its rails. */
export const providerRails = {
  MPESA: ['MPESA_B2C', 'MPESA_B2B', collectionRail],
  PESALINK: ['PESALINK'],
} as const satisfies Readonly<Record<string, readonly AnyRail[]>>

export type Provider = keyof typeof providerRails
export const providers = ['MPESA', 'PESALINK'] as const satisfies readonly Provider[]

/** What money at a provider is booked under: its rails; suspense entries from a statement name the provider instead. */
export const booksOf = (provider: Provider): readonly string[] => [provider, ...providerRails[provider]]

export const providerOf = (rail: AnyRail): Provider => (rail === 'PESALINK' ? 'PESALINK' : 'MPESA')
