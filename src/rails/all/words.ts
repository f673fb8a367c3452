// Written by `npm run rails`.
import { words as daraja } from '../daraja/words.ts'
import { words as pesalink } from '../pesalink/words.ts'

export const words = {
  MPESA: daraja,
  PESALINK: pesalink,
}
