import { defineEmulator } from '../../../dev/sandbox/emulator.ts'
import { createCredentials, secrets } from './credentials.ts'
import { renderConfirmation } from './deposits.ts'
import { renderB2b, renderB2c, renderTimeout } from './payout-results.ts'
import { renderCallback } from './prompts.ts'
import { registerDaraja } from './routes.ts'
import { statement } from './statement.ts'

/** Plays Daraja. */
export const emulator = defineEmulator<'MPESA'>()({
  secrets,
  credentials: createCredentials,
  register: registerDaraja,
  accounts: ({ deposits }) => ({ MPESA_PAYBILL: deposits.shortcode }),
  renderings: {
    MPESA_STK: { result: renderCallback, timeout: () => ({}) },
    MPESA_B2C: { result: renderB2c, timeout: renderTimeout },
    MPESA_B2B: { result: renderB2b, timeout: renderTimeout },
  },
  notices: { MPESA_PAYBILL: renderConfirmation },
  statement,
})
