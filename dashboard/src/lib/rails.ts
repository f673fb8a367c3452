import type { IconName } from '../ui/icon.tsx'

export const rails = ['MPESA_B2C', 'MPESA_B2B', 'PESALINK'] as const
export type RailName = (typeof rails)[number]

export const railLabels: Readonly<Record<RailName, string>> = {
  MPESA_B2C: 'M-PESA to a phone',
  MPESA_B2B: 'M-PESA to a business',
  PESALINK: 'PesaLink to a bank',
}

export const railIcons: Readonly<Record<RailName, IconName>> = { MPESA_B2C: 'phone', MPESA_B2B: 'receipt', PESALINK: 'bank' }

const isRail = (text: string): text is RailName => rails.some((rail) => rail === text)

/** A payment type in words: a rail's own name, or the type as somebody called it. */
export const typeLabel = (type: string): string => (isRail(type) ? railLabels[type] : type)
