// Written by `npm run rails`.
import { definition as daraja } from '../daraja/definition.ts'
import { definition as pesalink } from '../pesalink/definition.ts'

export const definitions = {
  MPESA: daraja,
  PESALINK: pesalink,
}
