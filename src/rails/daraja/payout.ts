import { randomUUID } from 'node:crypto'
import { type Failure, type FailureCode, failure } from '../../errors/failures.ts'
import type { Clock } from '../../lib/clock.ts'
import { readNameAnswer, unknown } from '../evidence.ts'
import { field, mobileForm, textField, wholeShillings } from '../fields.ts'
import { permissionFor, type Send } from '../gateway.ts'
import { nairobiTimestamp } from '../nairobi-time.ts'
import type { Attempt, Evidence, LookUp, PayoutAdapter, PayoutInstruction, Submission } from '../rail.ts'
import { exactReference, remarks, safeCode } from '../text.ts'
import { readSubmission, referenceOfAnswer } from './answers.ts'
import { type DarajaOptions, payerOf } from './gateway.ts'
import { readPayoutDelivery } from './payout-evidence.ts'

/** The first name in full, the others masked: `{firstName: "WANJIRU", middleName: "N****", lastName: "K****"}`. */
const subscriberIn = (answer: unknown): string | undefined => {
  const body = field(answer, 'body')
  const parts = ['firstName', 'middleName', 'lastName'].flatMap((part) => textField(body, part) ?? [])
  return parts.length === 0 ? undefined : parts.join(' ')
}

const organisationIn = (answer: unknown): string | undefined => textField(answer, 'OrganizationName')

/** M-PESA's two queries for names: of a subscriber, and of an organisation by its paybill or till. Both answer at once. */
const createLookUp =
  (options: DarajaOptions, send: Send, clock: Clock): LookUp =>
  async ({ rail, destination, isPaybill }) =>
    rail === 'MPESA_B2C'
      ? readNameAnswer(
          await send('/mpesa/b2c/hakikisha/v1/hakikisha', {
            header: { requestID: randomUUID(), timestamp: nairobiTimestamp(clock.now()) },
            body: { msisdn: destination, shortcode: payerOf(options, 'MPESA_B2C') },
          }),
          subscriberIn,
        )
      : readNameAnswer(
          await send('/sfcverify/v1/query/info', { IdentifierType: isPaybill ? '4' : '2', Identifier: destination }),
          organisationIn,
        )

/** A request ready to be sent, or the reason why this instruction cannot be sent. */
type Prepared = { path: string; body: Record<string, string> } | { refusal: Failure }

const organisation = /^\d{5,7}$/

const refusal = (code: FailureCode, message: string): Prepared => ({ refusal: failure(code, null, message) })

/** The attempt's id is the OriginatorConversationID: the provider itself then refuses to pay the same attempt twice. */
const toMobile = (options: DarajaOptions, { destination, orderId }: PayoutInstruction): Prepared =>
  mobileForm.test(destination)
    ? {
        path: '/mpesa/b2c/v3/paymentrequest',
        body: { OriginatorConversationID: orderId, InitiatorName: options.initiatorName, CommandID: 'BusinessPayment' },
      }
    : refusal('invalid_destination', 'The destination is not a Kenyan mobile number.')

/** A paybill needs the account reference of the payee; a payment without an account reference goes to a till. */
const toOrganisation = (options: DarajaOptions, instruction: PayoutInstruction): Prepared => {
  const { destination, accountReference, reference } = instruction
  if (!organisation.test(destination)) return refusal('invalid_destination', 'The destination is not a paybill or till number.')
  const isPaybill = accountReference !== null
  const account = isPaybill ? exactReference(accountReference, 13) : reference
  if (account === undefined) return refusal('invalid_account_reference', 'The account reference cannot be passed on unchanged.')
  return {
    path: '/mpesa/b2b/v1/paymentrequest',
    body: {
      Initiator: options.initiatorName,
      CommandID: isPaybill ? 'BusinessPayBill' : 'BusinessBuyGoods',
      SenderIdentifierType: '4',
      RecieverIdentifierType: isPaybill ? '4' : options.tillIdentifierType,
      AccountReference: account,
    },
  }
}

/**
 * The order, without the credential: that is another one after each start. The fingerprint of one that may be repeated, to a phone, is taken
 * over its fields in this sequence, also by other releases.
 */
const prepare = (options: DarajaOptions, instruction: PayoutInstruction): Prepared => {
  const amount = wholeShillings(instruction.amountMinor)
  if (amount === undefined) return refusal('invalid_amount', 'M-PESA moves whole shillings only.')
  if (instruction.rail !== 'MPESA_B2C' && instruction.rail !== 'MPESA_B2B')
    return refusal('wrong_rail', 'This rail does not carry the payment.')
  const prepared = instruction.rail === 'MPESA_B2C' ? toMobile(options, instruction) : toOrganisation(options, instruction)
  if ('refusal' in prepared) return prepared
  const common = {
    PartyA: payerOf(options, instruction.rail),
    Amount: amount,
    PartyB: instruction.destination,
    Remarks: remarks(instruction, 100),
    QueueTimeOutURL: instruction.callbacks.timeout,
    ResultURL: instruction.callbacks.result,
    Occassion: instruction.reference,
  }
  return { ...prepared, body: { ...prepared.body, ...common } }
}

export const createPayoutRail = (options: DarajaOptions, send: Send, credential: string, clock: Clock): PayoutAdapter => {
  const pay = async (instruction: PayoutInstruction): Promise<Submission> => {
    const prepared = prepare(options, instruction)
    if ('refusal' in prepared) return { kind: 'refused', ...prepared.refusal }
    const sentId = instruction.rail === 'MPESA_B2C' ? instruction.orderId : null
    const body = { ...prepared.body, SecurityCredential: credential }
    const answer = await send(prepared.path, body, { permission: permissionFor(instruction.permission, prepared.body) })
    return readSubmission(answer, referenceOfAnswer(sentId), sentId !== null)
  }

  /**
   * Queries by the id under which the payout was sent. The answer comes as a delivery to the attempt's result URL, so the best that this
   * can return is `pending`. For a B2B payout whose submit was not answered, the provider knows no id: only its own delivery, or a person
   * with the statement, can show the outcome.
   */
  const query = async (attempt: Attempt): Promise<Evidence> => {
    const original = attempt.provider.request ?? (attempt.rail === 'MPESA_B2C' ? attempt.orderId : null)
    if (original === null) return unknown('no_reference', 'The provider gave no id to query by.')
    const answer = await send('/mpesa/transactionstatus/v1/query', {
      Initiator: options.initiatorName,
      SecurityCredential: credential,
      CommandID: 'TransactionStatusQuery',
      OriginalConversationID: original,
      PartyA: payerOf(options, attempt.rail),
      IdentifierType: '4',
      ResultURL: attempt.callbacks.result,
      QueueTimeOutURL: attempt.callbacks.timeout,
      Remarks: 'Status of a payment',
      Occasion: attempt.reference,
    })
    if (answer.kind !== 'answer') return unknown('unreachable', 'The provider could not be queried.')
    if (answer.status < 300 && textField(answer.body, 'ResponseCode') === '0') return { kind: 'pending' }
    return unknown(safeCode(textField(answer.body, 'errorCode')), 'The provider did not accept the query.')
  }

  return { ready: send.ready, pay, lookUp: createLookUp(options, send, clock), query, readDelivery: readPayoutDelivery }
}
