import { defineEmulator } from '../../../dev/sandbox/emulator.ts'
import { createCredentials, secrets } from './credentials.ts'
import { renderNotification } from './deposits.ts'
import { registerPesalink } from './routes.ts'
import { statement } from './statement.ts'
import { renderTransfer } from './transfers.ts'

/** Plays a bank's API for PesaLink. */
export const emulator = defineEmulator<'PESALINK'>()({
  secrets,
  credentials: createCredentials,
  register: registerPesalink,
  accounts: ({ source }) => ({ PESALINK: source.accountNumber }),
  renderings: { PESALINK: { result: renderTransfer, timeout: () => ({}) } },
  notices: { PESALINK: renderNotification },
  statement,
})
