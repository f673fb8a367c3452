import type { ProviderWords } from '../definition.ts'

export const words = {
  provider: 'MPESA',
  label: 'M-PESA',
  payouts: {
    MPESA_B2C: {
      label: 'M-PESA to a phone',
      icon: 'phone',
      category: 'individual',
      reach: 'KES 10 to 250,000',
      bank: false,
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
      category: 'business',
      reach: 'A paybill or a till',
      bank: false,
      destination: { label: 'Paybill or till number', hint: '5 to 7 digits', placeholder: '888880', inputMode: 'numeric' },
    },
  },
  depositActions: { MPESA_PAYBILL: 'Pay by paybill' },
} as const satisfies ProviderWords<'MPESA'>
