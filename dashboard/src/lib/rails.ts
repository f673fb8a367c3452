import type { Schemas } from '../api/types.ts'
import type { IconName } from '../ui/icon.tsx'

// The API's own types: a payment method that is new there fails the type check until it is described here.
export type RailName = Schemas['Beneficiary']['payment_rail']
type Provider = Schemas['Reconciliation']['provider']

export const providerLabels: Readonly<Record<Provider, string>> = { MPESA: 'M-PESA', PESALINK: 'PesaLink' }

type RailFacts = {
  label: string
  icon: IconName
  provider: Provider
  /** The usual category of a beneficiary that is paid by it. */
  category: 'individual' | 'business'
  /** What it can move, in a few words. */
  reach: string
  /** Whether a destination may be at a bank. */
  bank: boolean
  /** Whether behind a destination there are accounts: the reference is then part of who is paid. */
  accounts: boolean
  destination: { label: string; hint: string; placeholder: string; inputMode: 'numeric' | 'text' }
}

/** Everything that the pages say about a payment method. */
export const railFacts: Readonly<Record<RailName, RailFacts>> = {
  MPESA_B2C: {
    label: 'M-PESA to a phone',
    icon: 'phone',
    provider: 'MPESA',
    category: 'individual',
    reach: 'KES 10 to 250,000',
    bank: false,
    accounts: false,
    destination: {
      label: 'Mobile number',
      hint: 'A Kenyan number: 07…, 01… or +254…',
      placeholder: '0712 345 678',
      inputMode: 'numeric',
    },
  },
  MPESA_B2B: {
    label: 'M-PESA to a business',
    icon: 'receipt',
    provider: 'MPESA',
    category: 'business',
    reach: 'A paybill or a till',
    bank: false,
    accounts: true,
    destination: { label: 'Paybill or till number', hint: '5 to 7 digits', placeholder: '888880', inputMode: 'numeric' },
  },
  PESALINK: {
    label: 'PesaLink to a bank',
    icon: 'bank',
    provider: 'PESALINK',
    category: 'business',
    reach: 'KES 10 to 999,999',
    bank: true,
    accounts: false,
    destination: {
      label: 'Account number',
      hint: 'Or a mobile number that is registered with PesaLink',
      placeholder: '0011547896523',
      inputMode: 'text',
    },
  },
}

/** Who carries a payment: "M-PESA". */
export const providerOf = (rail: RailName): string => providerLabels[railFacts[rail].provider]

export const isRail = (text: string): text is RailName => Object.hasOwn(railFacts, text)

export const rails: readonly RailName[] = Object.keys(railFacts).filter(isRail)

export const railOptions = rails.map((rail) => ({ value: rail, label: railFacts[rail].label }))

/** A payment type in words: a payment method, or a type of the workspace's own. */
export const typeLabel = (type: string): string => (isRail(type) ? railFacts[type].label : type.replaceAll('_', ' '))
