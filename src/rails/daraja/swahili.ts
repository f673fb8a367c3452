import type { ProviderSwahili } from '../definition.ts'

export const swahili: ProviderSwahili<'MPESA'> = {
  payouts: {
    MPESA_B2C: {
      label: 'M-PESA kwa simu',
      reach: 'KES 10 hadi 250,000',
      destination: { label: 'Nambari ya simu', hint: 'Nambari ya Kenya: 07…, 01… au +254…' },
    },
    MPESA_B2B: {
      label: 'M-PESA kwa biashara',
      reach: 'Paybill au till',
      destination: { label: 'Nambari ya paybill au till', hint: 'Tarakimu 5 hadi 7' },
    },
  },
  depositActions: { MPESA_PAYBILL: 'Lipa kwa paybill' },
}
