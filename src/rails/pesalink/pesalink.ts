import { failure } from '../../lib/failure-codes.ts'
import type { Exchange } from '../exchange.ts'
import { permissionFor } from '../fingerprint.ts'
import { field, textField } from '../json.ts'
import { readNameAnswer } from '../names.ts'
import type { Attempt, Evidence, LookUp, PayoutAdapter, PayoutInstruction, Submission } from '../rail.ts'
import { safeCode, safeMessage } from '../text.ts'
import { readAnswer, readDetails, readTransferDelivery } from './evidence.ts'
import { createGateway, type Send } from './gateway.ts'
import { type PesalinkDeps, type PesalinkOptions, paths } from './options.ts'
import { destinationOf, prepareTransfer } from './request.ts'
import { createSigner, type Sign } from './signature.ts'

/** PesaLink's account lookup: the name of the holder of an account, or of a phone that is registered for PesaLink. */
const createLookUp =
  (options: PesalinkOptions & { lookUpPath: string }, send: Send, sign: Sign): LookUp =>
  async (query) => {
    const destination = destinationOf(options, query)
    if (!destination) return { kind: 'nameless' }
    const answer = await send({
      method: 'POST',
      path: options.lookUpPath,
      body: { countryCode: options.source.countryCode, ...destination.fields },
      signature: sign(`${options.source.accountNumber}${query.destination}`),
    })
    return readNameAnswer(answer, (body) => textField(field(body, 'data'), 'receiverName'))
  }

const unknown = (code: string, message: string): Evidence => ({ kind: 'unknown', code, message })

/**
 * `refused` needs the bank's own 4xx with `status: false`. A duplicate reference (409) is `lost`: the transfer was already sent. An answer
 * of 200 with `status: false` proves nothing about the money.
 */
const readSubmission = (answer: Exchange, reference: string, failureCodes: readonly string[]): Submission => {
  if (answer.kind !== 'answer') return answer
  const status = field(answer.body, 'status')
  const code = textField(answer.body, 'code')
  if ([400, 403, 404, 422].includes(answer.status) && status === false && code !== undefined) {
    const message = safeMessage(textField(answer.body, 'message'), 'The bank refused the transfer.')
    return { kind: 'refused', ...failure('provider_refused', safeCode(code), message) }
  }
  const data = field(answer.body, 'data')
  if (answer.status < 200 || answer.status >= 300 || status !== true || data === undefined) {
    const isDuplicate = answer.status === 409 && status === false
    return isDuplicate
      ? { kind: 'lost', message: 'The bank has this order already.', duplicate: true }
      : { kind: 'lost', message: 'The answer could not be understood.' }
  }
  const provider = { request: reference, conversation: textField(data, 'transactionId') ?? null }
  const evidence = readDetails(data, failureCodes)
  return evidence.kind === 'succeeded' ? { kind: 'accepted', provider, evidence } : { kind: 'accepted', provider }
}

/** Payouts to bank accounts and phones by PesaLink. The 12-digit reference is unique at the bank, and queries use it. */
export const createPesalink = (input: PesalinkOptions, deps: PesalinkDeps): PayoutAdapter => {
  const options = { ...input, baseUrl: input.baseUrl.replace(/\/+$/, '') }
  const sign = createSigner(options.privateKeyPem)
  const send = createGateway(options, deps)

  const pay = async (instruction: PayoutInstruction): Promise<Submission> => {
    const prepared = prepareTransfer(options, instruction)
    if ('refusal' in prepared) return { kind: 'refused', ...prepared.refusal }
    const answer = await send({
      method: 'POST',
      path: `${paths.transfer}/${prepared.service}`,
      body: prepared.body,
      signature: sign(prepared.signed),
      permission: permissionFor(instruction.permission, prepared.body),
    })
    return readSubmission(answer, instruction.reference, options.failureCodes)
  }

  const query = async (attempt: Attempt): Promise<Evidence> => {
    const answer = await send({
      method: 'GET',
      path: `${paths.query}/${encodeURIComponent(attempt.reference)}`,
      signature: sign(attempt.reference),
    })
    if (answer.kind !== 'answer') return unknown('unreachable', 'The bank could not be queried.')
    const data = field(answer.body, 'data')
    if (answer.status !== 200 || field(answer.body, 'status') !== true || data === undefined) {
      return unknown(safeCode(textField(answer.body, 'code')), 'The bank does not know, or did not say.')
    }
    return readAnswer(data, attempt.reference, options.failureCodes)
  }

  return {
    ready: send.ready,
    pay,
    lookUp: options.lookUpPath === null ? null : createLookUp({ ...options, lookUpPath: options.lookUpPath }, send, sign),
    query,
    readDelivery: readTransferDelivery(options.failureCodes),
  }
}
