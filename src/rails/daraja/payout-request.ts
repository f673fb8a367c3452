import type { FailureCode } from '../../errors/failures.ts'
import { type Failure, failure } from '../../lib/failure-codes.ts'
import { wholeShillings } from '../amounts.ts'
import type { PayoutInstruction } from '../rail.ts'
import { exactReference, remarks } from '../text.ts'
import type { DarajaOptions } from './options.ts'

/** A request ready to be sent, or the reason why this instruction cannot be sent. */
export type Prepared = { path: string; body: Record<string, string> } | { refusal: Failure }

const mobile = /^254[17]\d{8}$/
const organisation = /^\d{5,7}$/

const refusal = (code: FailureCode, message: string): Prepared => ({ refusal: failure(code, null, message) })

const common = (instruction: PayoutInstruction, amount: string) => ({
  Amount: amount,
  PartyB: instruction.destination,
  Remarks: remarks(instruction, 100),
  QueueTimeOutURL: instruction.callbacks.timeout,
  ResultURL: instruction.callbacks.result,
})

/** The attempt's id is the OriginatorConversationID: the provider itself then refuses to pay the same attempt twice. */
const toMobile = (options: DarajaOptions, credential: string, instruction: PayoutInstruction, amount: string): Prepared => {
  if (!mobile.test(instruction.destination))
    return refusal('invalid_destination', 'The destination is not a Kenyan mobile number.')
  return {
    path: '/mpesa/b2c/v3/paymentrequest',
    body: {
      OriginatorConversationID: instruction.orderId,
      InitiatorName: options.initiatorName,
      SecurityCredential: credential,
      CommandID: 'BusinessPayment',
      PartyA: options.b2cShortcode ?? options.shortcode,
      ...common(instruction, amount),
      Occassion: instruction.reference,
    },
  }
}

/** A paybill needs the account reference of the payee; a payment without an account reference goes to a till. */
const toOrganisation = (options: DarajaOptions, credential: string, instruction: PayoutInstruction, amount: string): Prepared => {
  if (!organisation.test(instruction.destination))
    return refusal('invalid_destination', 'The destination is not a paybill or till number.')
  const isPaybill = instruction.accountReference !== null
  const account = isPaybill ? exactReference(instruction.accountReference ?? '', 13) : instruction.reference
  if (account === undefined) return refusal('invalid_account_reference', 'The account reference cannot be passed on unchanged.')
  return {
    path: '/mpesa/b2b/v1/paymentrequest',
    body: {
      Initiator: options.initiatorName,
      SecurityCredential: credential,
      CommandID: isPaybill ? 'BusinessPayBill' : 'BusinessBuyGoods',
      SenderIdentifierType: '4',
      RecieverIdentifierType: isPaybill ? '4' : options.tillIdentifierType,
      PartyA: options.b2bShortcode ?? options.shortcode,
      ...common(instruction, amount),
      AccountReference: account,
      Occassion: instruction.reference,
    },
  }
}

export const preparePayout = (options: DarajaOptions, credential: string, instruction: PayoutInstruction): Prepared => {
  const amount = wholeShillings(instruction.amountMinor)
  if (amount === undefined) return refusal('invalid_amount', 'M-PESA moves whole shillings only.')
  switch (instruction.rail) {
    case 'MPESA_B2C':
      return toMobile(options, credential, instruction, amount)
    case 'MPESA_B2B':
      return toOrganisation(options, credential, instruction, amount)
    default:
      return refusal('wrong_rail', 'This rail does not carry the payment.')
  }
}
