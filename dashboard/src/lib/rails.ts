import type { Schemas } from '../api/types.ts'
import type { IconName } from '../ui/icon.tsx'

// The API's own types: a payment method that is new there fails the type check until it is described here.
export type RailName = Schemas['Beneficiary']['payment_rail']
type Provider = Schemas['Reconciliation']['provider']

export const railLabels: Readonly<Record<RailName, string>> = {
  MPESA_B2C: 'M-PESA to a phone',
  MPESA_B2B: 'M-PESA to a business',
  PESALINK: 'PesaLink to a bank',
}

export const railIcons: Readonly<Record<RailName, IconName>> = { MPESA_B2C: 'phone', MPESA_B2B: 'receipt', PESALINK: 'bank' }

export const providerLabels: Readonly<Record<Provider, string>> = { MPESA: 'M-PESA', PESALINK: 'PesaLink' }

const providers: Readonly<Record<RailName, Provider>> = { MPESA_B2C: 'MPESA', MPESA_B2B: 'MPESA', PESALINK: 'PESALINK' }

/** Who carries a payment: "M-PESA". */
export const providerOf = (rail: RailName): string => providerLabels[providers[rail]]

export const isRail = (text: string): text is RailName => Object.hasOwn(railLabels, text)

export const rails: readonly RailName[] = Object.keys(railLabels).filter(isRail)

export const railOptions = rails.map((rail) => ({ value: rail, label: railLabels[rail] }))

/** A payment type in words: a payment method, or a type of the workspace's own. */
export const typeLabel = (type: string): string => (isRail(type) ? railLabels[type] : type.replaceAll('_', ' '))
