import type { ProviderWords } from '../definition.ts'

export const words = {
  provider: 'PESALINK',
  label: 'PesaLink',
  payouts: {
    PESALINK: {
      label: 'PesaLink to a bank',
      icon: 'bank',
      category: 'business',
      reach: 'KES 10 to 999,999',
      bank: true,
      destination: {
        label: 'Account number',
        hint: 'Or a mobile number that is registered with PesaLink',
        placeholder: '0011547896523',
        inputMode: 'text',
      },
    },
  },
  depositActions: { PESALINK: 'Transfer from a bank' },
} as const satisfies ProviderWords<'PESALINK'>
