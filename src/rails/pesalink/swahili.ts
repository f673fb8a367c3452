import type { ProviderSwahili } from '../definition.ts'

export const swahili: ProviderSwahili<'PESALINK'> = {
  payouts: {
    PESALINK: {
      label: 'PesaLink kwa benki',
      reach: 'KES 10 hadi 999,999',
      destination: { label: 'Nambari ya akaunti', hint: 'Au nambari ya simu iliyosajiliwa na PesaLink' },
    },
  },
  depositActions: { PESALINK: 'Hamisha kutoka benki' },
}
