// Written by `npm run rails`.
import { swahili as daraja } from '../daraja/swahili.ts'
import { swahili as pesalink } from '../pesalink/swahili.ts'

export const swahili = {
  MPESA: daraja,
  PESALINK: pesalink,
}
