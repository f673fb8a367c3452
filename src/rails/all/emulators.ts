// Written by `npm run rails`.
import { emulator as daraja } from '../daraja/emulator/emulator.ts'
import { emulator as pesalink } from '../pesalink/emulator/emulator.ts'

export const emulators = {
  MPESA: daraja,
  PESALINK: pesalink,
}
