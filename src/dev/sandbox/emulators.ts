// Written by `npm run rails`.
import { emulator as daraja } from './daraja/emulator.ts'
import { emulator as pesalink } from './pesalink/emulator.ts'

export const emulators = {
  MPESA: daraja,
  PESALINK: pesalink,
}
