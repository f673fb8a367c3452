import type { IconName } from '../ui/icon.tsx'

export const rails = ['MPESA_B2C', 'MPESA_B2B', 'PESALINK'] as const
export type RailName = (typeof rails)[number]

export const railLabels: Readonly<Record<RailName, string>> = {
  MPESA_B2C: 'M-PESA to a phone',
  MPESA_B2B: 'M-PESA to a business',
  PESALINK: 'PesaLink to a bank',
}

/** The provider that carries a payment. */
export const railNames: Readonly<Record<RailName, string>> = { MPESA_B2C: 'M-PESA', MPESA_B2B: 'M-PESA', PESALINK: 'PesaLink' }

export const railIcons: Readonly<Record<RailName, IconName>> = { MPESA_B2C: 'phone', MPESA_B2B: 'receipt', PESALINK: 'bank' }

export const isRail = (text: string): text is RailName => rails.some((rail) => rail === text)

/** A payment type in words: a payment method, or a type of the workspace's own. */
export const typeLabel = (type: string): string => (isRail(type) ? railLabels[type] : type.replaceAll('_', ' '))
