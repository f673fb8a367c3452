import { defineEmulator } from '../../../sandbox/emulator.ts'
import { createCredentials, secrets } from './credentials.ts'
import { renderNotification } from './deposits.ts'
import { registerPesalink } from './routes.ts'
import { statement } from './statement.ts'
import { renderTransfer } from './transfers.ts'

/** Plays a bank's API for PesaLink. */
export const emulator = defineEmulator<'PESALINK'>()({
  secrets,
  create: (given) => {
    const credentials = createCredentials(given)
    const { options } = credentials
    return {
      options,
      register: (app, emulation, respond) => registerPesalink(app, { ...emulation, credentials }, respond),
      accounts: { PESALINK: options.source.accountNumber },
    }
  },
  renderings: { PESALINK: { result: renderTransfer, timeout: () => ({}) } },
  notices: { PESALINK: renderNotification },
  statement,
})
