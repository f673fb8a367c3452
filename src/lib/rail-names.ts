/** How money leaves: the `payment_rail` of a beneficiary. */
export const railNames = ['MPESA_B2B', 'MPESA_B2C', 'PESALINK'] as const
export type RailName = (typeof railNames)[number]

/** How a top-up comes in. */
export const collectionRail = 'MPESA_STK'

/** The rails of each provider: receipts are unique and statements are made for each provider, over all of its rails. */
export const providerRails = {
  MPESA: ['MPESA_B2C', 'MPESA_B2B', collectionRail],
  PESALINK: ['PESALINK'],
} as const satisfies Readonly<Record<string, readonly (RailName | typeof collectionRail)[]>>

export type Provider = keyof typeof providerRails
export const providers = ['MPESA', 'PESALINK'] as const satisfies readonly Provider[]

export const providerOf = (rail: RailName | typeof collectionRail): Provider => (rail === 'PESALINK' ? 'PESALINK' : 'MPESA')
