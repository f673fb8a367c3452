// Written by `npm run rails`.
import { adapter as daraja } from '../daraja/adapter.ts'
import { adapter as pesalink } from '../pesalink/adapter.ts'

export const adapters = {
  MPESA: daraja,
  PESALINK: pesalink,
}
