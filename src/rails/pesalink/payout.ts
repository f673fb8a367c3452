import { failure } from '../../errors/failures.ts'
import { type Refused, readNameAnswer, refused, returned, succeeded, unknown } from '../evidence.ts'
import type { Exchange } from '../exchange.ts'
import { decimalShillings, field, mobileForm, nairobiDate, readReturned, readShillings, textField } from '../fields.ts'
import { permissionFor, type Send } from '../gateway.ts'
import { outcomeOf, recordIn } from '../outcomes.ts'
import type { Attempt, Delivery, DeliveryKind, Evidence, LookUp, PayoutAdapter, PayoutInstruction, Submission } from '../rail.ts'
import { freeText, receiptOf, remarks, safeCode, safeMessage } from '../text.ts'
import type { PesalinkOptions, Sign } from './gateway.ts'

type PreparedTransfer = { service: 'pesalinkacc' | 'pesalinkMobile'; body: Record<string, unknown>; signed: string } | Refused

const account = /^[A-Za-z0-9]{5,20}$/

type Destination = { service: 'pesalinkacc' | 'pesalinkMobile'; fields: Record<string, string> }

const destinationOf = (
  { bankCodes }: PesalinkOptions,
  { destination, bankCode }: Pick<PayoutInstruction, 'destination' | 'bankCode'>,
): Destination | undefined => {
  if (bankCode === null) {
    if (!mobileForm.test(destination)) return undefined
    return { service: 'pesalinkMobile', fields: { type: 'mobile', mobileNumber: destination } }
  }
  const known = bankCodes !== 'as_given' && Object.hasOwn(bankCodes, bankCode) ? bankCodes[bankCode] : undefined
  const bankCodeAtBank = bankCodes === 'as_given' ? bankCode : known
  if (bankCodeAtBank === undefined || !account.test(destination)) return undefined
  return { service: 'pesalinkacc', fields: { type: 'bank', bankCode: bankCodeAtBank, accountNumber: destination } }
}

const prepareTransfer = (options: PesalinkOptions, instruction: PayoutInstruction): PreparedTransfer => {
  if (instruction.rail !== 'PESALINK') return refused('wrong_rail', 'This rail does not support the payment.')
  if (instruction.amountMinor <= 0n) return refused('invalid_amount', 'The amount must be positive.')
  if (!/^\d{12}$/.test(instruction.reference)) return refused('invalid_reference', 'The reference must have 12 digits.')
  const destination = destinationOf(options, instruction)
  if (!destination) return refused('invalid_destination', 'The destination or its bank is not one that can be paid.')
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
    // In the order that the bank requires, without separators.
    signed: `${amount}${instruction.currency}${instruction.reference}${name}${options.source.accountNumber}`,
  }
}

const failed = (code: string | undefined, failureCodes: readonly string[], providerStatus: string): Evidence =>
  code !== undefined && failureCodes.includes(code)
    ? {
        kind: 'failed',
        ...failure('provider_failed', safeCode(code), 'The bank reports that the transfer failed.'),
        providerStatus,
      }
    : unknown(safeCode(code), 'The bank reports a failure that proves nothing.', providerStatus)

/** The stated amount. Null if the bank states none, and undefined if it is not an amount. */
const statedBy = (details: unknown, read: typeof readShillings) => {
  const stated = field(details, 'amount')
  return stated === undefined || stated === null ? null : read(stated)
}

/**
 * Details in the response to a query or an order, or in a callback: `{status, code, message, data: {reference, transactionId,
 * state, code, amount}}`, where `data` may be a list or absent.
 */
const detailsOf = (body: unknown, reference: string): unknown => {
  const data = field(body, 'data')
  return data === undefined ? body : recordIn(data, ['reference', 'transactionReference'], reference)
}

const wordOf = (details: unknown): string => textField(details, 'state') ?? textField(details, 'status') ?? ''

/** Jenga reports "Failed" even for an unknown status (400105), so only codes that the bank documents as final count. */
const readDetails = (details: unknown, reference: string, failureCodes: readonly string[]): Evidence => {
  const providerStatus = wordOf(details)
  const names = [textField(details, 'transactionId'), textField(details, 'transactionReference')]
  // Our own reference is no receipt: the bank's statement lists the transfer under another one.
  const receipt = receiptOf(names.find((name) => name !== undefined && name !== reference))
  switch (outcomeOf(providerStatus)) {
    case 'paid':
      return succeeded(receipt, statedBy(details, readShillings), textField(details, 'receiverName'))
    case 'ended':
      return failed(textField(details, 'code'), failureCodes, providerStatus)
    case 'returned':
      return returned(receipt, statedBy(details, readReturned), 'The bank has sent the money back.', providerStatus)
    case 'pending':
      return { kind: 'pending' }
    default:
      return unknown('unknown_state', 'The bank gave a state that proves nothing.', providerStatus)
  }
}

export const readTransferDelivery =
  (failureCodes: readonly string[]) =>
  (kind: DeliveryKind, body: unknown, attempt: Pick<Attempt, 'reference'>): Delivery => {
    const details = detailsOf(body, attempt.reference)
    const provider = {
      request: textField(details, 'reference') ?? textField(details, 'transactionReference') ?? null,
      conversation: textField(details, 'transactionId') ?? null,
    }
    if (kind === 'timeout') return { evidence: unknown('queue_timeout', 'The bank has not decided in time.'), provider }
    const evidence = readDetails(details, attempt.reference, failureCodes)
    // Only a failure must contain the attempt's reference, because the callback arrived at the attempt's own URL.
    return evidence.kind === 'failed' && provider.request !== attempt.reference
      ? { evidence: unknown('other_request', 'The delivery does not name this payment.'), provider }
      : { evidence, provider }
  }

/**
 * Codes of Jenga's gateway for a signature, an authorization or a request that it rejects before it passes the order on. Codes of
 * the bank behind it, such as 400105 and 100210, may follow a transfer that moved money.
 */
const gatewayRejections = new Set(['900100', '900101', '900102', '401101', '401201', '401202', '400400', '400116', '118110'])

/** "Duplicate Transaction/ Payment Reference" and "Duplicate transmission". */
const duplicates = new Set(['400101', '400109'])

/** `refused` requires a 4xx with `status: false` and a code that proves that no money moves. */
const readSubmission = (answer: Exchange, reference: string, failureCodes: readonly string[]): Submission => {
  if (answer.kind !== 'answer') return answer
  const status = field(answer.body, 'status')
  const code = textField(answer.body, 'code') ?? ''
  if (status === false && (answer.status === 409 || duplicates.has(code)))
    return { kind: 'lost', message: 'The bank has this order already.', duplicate: true }
  const isRejection = answer.status >= 400 && answer.status < 500 && status === false
  if (isRejection && (gatewayRejections.has(code) || failureCodes.includes(code)))
    return refused(
      'provider_refused',
      safeMessage(textField(answer.body, 'message'), 'The bank refused the transfer.'),
      safeCode(code),
    )
  const data = field(answer.body, 'data')
  if (answer.status < 200 || answer.status >= 300 || status !== true || data === undefined)
    return {
      kind: 'lost',
      message: code === '' ? 'The answer could not be understood.' : `The bank answered ${safeCode(code)}.`,
    }
  const provider = { request: reference, conversation: textField(detailsOf(answer.body, reference), 'transactionId') ?? null }
  const evidence = readDetails(detailsOf(answer.body, reference), reference, failureCodes)
  return evidence.kind === 'succeeded' ? { kind: 'accepted', provider, evidence } : { kind: 'accepted', provider }
}

/** The 12-digit reference is unique at the bank and is used in queries. */
export const createPesalinkPayout = (options: PesalinkOptions, send: Send, sign: Sign): PayoutAdapter => {
  const pay = async (instruction: PayoutInstruction): Promise<Submission> => {
    const prepared = prepareTransfer(options, instruction)
    if ('kind' in prepared) return prepared
    const answer = await send(`/transaction-api/v3.0/remittance/${prepared.service}`, prepared.body, {
      headers: { signature: sign(prepared.signed) },
      permission: permissionFor(instruction.permission, prepared.body),
    })
    return readSubmission(answer, instruction.reference, options.failureCodes)
  }

  const query = async (attempt: Attempt): Promise<Evidence> => {
    const path = `/transaction-api/v3.0/transactions/details/${encodeURIComponent(attempt.reference)}`
    const answer = await send(path, undefined, { headers: { signature: sign(attempt.reference) } })
    if (answer.kind !== 'answer') return unknown('unreachable', 'The bank could not be queried.')
    const data = detailsOf(answer.body, attempt.reference)
    const isPlain = field(answer.body, 'data') === undefined
    if (answer.status !== 200 || (isPlain ? wordOf(data) === '' : field(answer.body, 'status') !== true) || data === undefined) {
      return unknown(safeCode(textField(answer.body, 'code')), 'The bank does not know, or did not say.')
    }
    // Jenga's response does not repeat the reference.
    const named = textField(data, 'reference')
    if (named !== undefined && named !== attempt.reference)
      return unknown('other_request', 'The answer is about another payment.')
    return readDetails(data, attempt.reference, options.failureCodes)
  }

  const { lookUpPath, source } = options
  const lookUp: LookUp | null =
    lookUpPath === null
      ? null
      : async (query) => {
          const destination = destinationOf(options, query)
          if (!destination) return { kind: 'nameless' }
          const signature = sign(`${source.accountNumber}${query.destination}`)
          const asked = { countryCode: source.countryCode, ...destination.fields }
          const answer = await send(lookUpPath, asked, { headers: { signature } })
          return readNameAnswer(answer, (body) => textField(field(body, 'data'), 'receiverName'))
        }

  return { ready: send.ready, pay, lookUp, query, readDelivery: readTransferDelivery(options.failureCodes) }
}
