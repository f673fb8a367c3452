import type { FailureCode } from '../../errors/failures.ts'
import { type Failure, failure } from '../../lib/failure-codes.ts'
import { decimalShillings } from '../amounts.ts'
import { nairobiDate } from '../nairobi-time.ts'
import type { PayoutInstruction } from '../rail.ts'
import { freeText, remarks } from '../text.ts'
import type { PesalinkOptions } from './options.ts'
import { transferText } from './signature.ts'

export type PreparedTransfer =
  | { service: 'pesalinkacc' | 'pesalinkMobile'; body: Record<string, unknown>; signed: string }
  | { refusal: Failure }

const refusal = (code: FailureCode, message: string): PreparedTransfer => ({ refusal: failure(code, null, message) })
const mobile = /^254[17]\d{8}$/
const account = /^[A-Za-z0-9]{5,20}$/

type Destination = { service: 'pesalinkacc' | 'pesalinkMobile'; fields: Record<string, string> }

const bankCodeAt = (table: PesalinkOptions['bankCodes'], bankCode: string): string | undefined => {
  if (table === 'as_given') return bankCode
  return Object.hasOwn(table, bankCode) ? table[bankCode] : undefined
}

/** The part of an instruction that says where the money goes. */
type Place = Pick<PayoutInstruction, 'destination' | 'bankCode'>

/** With a bank code the destination is an account at that bank, without one it is a phone number. */
export const destinationOf = (options: Pick<PesalinkOptions, 'bankCodes'>, instruction: Place): Destination | undefined => {
  if (instruction.bankCode === null) {
    if (!mobile.test(instruction.destination)) return undefined
    return { service: 'pesalinkMobile', fields: { type: 'mobile', mobileNumber: instruction.destination } }
  }
  const bankCode = bankCodeAt(options.bankCodes, instruction.bankCode)
  if (bankCode === undefined || !account.test(instruction.destination)) return undefined
  return { service: 'pesalinkacc', fields: { type: 'bank', bankCode, accountNumber: instruction.destination } }
}

export const prepareTransfer = (options: PesalinkOptions, instruction: PayoutInstruction): PreparedTransfer => {
  if (instruction.rail !== 'PESALINK') return refusal('wrong_rail', 'This rail does not carry the payment.')
  if (instruction.amountMinor <= 0n) return refusal('invalid_amount', 'The amount must be positive.')
  if (!/^\d{12}$/.test(instruction.reference)) return refusal('invalid_reference', 'The reference must have 12 digits.')
  const destination = destinationOf(options, instruction)
  if (!destination) return refusal('invalid_destination', 'The destination or its bank is not one that can be paid.')
  const amount = decimalShillings(instruction.amountMinor)
  const name = freeText(instruction.beneficiaryName, 70, 'Beneficiary')
  return {
    service: destination.service,
    body: {
      source: options.source,
      destination: { countryCode: 'KE', name, ...destination.fields },
      transfer: {
        type: 'PesaLink',
        amount,
        currencyCode: instruction.currency,
        reference: instruction.reference,
        date: nairobiDate(instruction.at),
        description: remarks(instruction, 100),
      },
      ...(options.callbackField !== null && { [options.callbackField]: instruction.callbacks.result }),
    },
    signed: transferText({
      amount,
      currencyCode: instruction.currency,
      reference: instruction.reference,
      destinationName: name,
      sourceAccount: options.source.accountNumber,
    }),
  }
}
