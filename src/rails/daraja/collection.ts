import type { Clock } from '../../lib/clock.ts'
import { failure } from '../../lib/failure-codes.ts'
import { wholeShillings } from '../amounts.ts'
import type { Exchange } from '../exchange.ts'
import { permissionFor } from '../fingerprint.ts'
import { textField } from '../json.ts'
import { nairobiTimestamp } from '../nairobi-time.ts'
import type { Attempt, CollectionAdapter, CollectionInstruction, Evidence, Submission } from '../rail.ts'
import { freeText, safeMessage } from '../text.ts'
import { collectionFailure } from './codes.ts'
import { readCollectionDelivery, readCollectionQuery } from './collection-evidence.ts'
import { stkPassword } from './credentials.ts'
import type { Post } from './gateway.ts'
import type { DarajaOptions } from './options.ts'
import { findPaidIn, listPaidIn } from './paid-in.ts'
import { readSubmission } from './submission.ts'

const mobile = /^254[17]\d{8}$/

/** Codes of a result that say at once that no prompt came to a phone. Other codes of an answer are not those of a result. */
const promptless = new Set(['1001', '1025', '9999'])

/** No prompt was shown: the phone has one already, or the answer itself has the code of a failure. */
const refusalOf = (answer: Exchange): Submission | undefined => {
  if (answer.kind !== 'answer') return undefined
  const message = textField(answer.body, 'errorMessage') ?? textField(answer.body, 'ResponseDescription')
  const code = /unable to lock subscriber/i.test(message ?? '') ? '1001' : textField(answer.body, 'ResponseCode')
  const known = code !== undefined && promptless.has(code) ? collectionFailure(code) : undefined
  return known && { kind: 'refused', ...known, message: safeMessage(message, known.message) }
}

export const createCollectionRail = (options: DarajaOptions, post: Post, clock: Clock): CollectionAdapter => {
  /** The current time, not the attempt's: the provider refuses an old one. */
  const proof = () => {
    const timestamp = nairobiTimestamp(clock.now())
    return {
      BusinessShortCode: options.shortcode,
      Password: stkPassword(options.shortcode, options.passkey, timestamp),
      Timestamp: timestamp,
    }
  }

  /** STK is not idempotent: two sends are two prompts on the phone, so a lost answer is never sent again. */
  const collect = async (instruction: CollectionInstruction): Promise<Submission> => {
    const amount = wholeShillings(instruction.amountMinor)
    if (amount === undefined) return { kind: 'refused', ...failure('invalid_amount', null, 'M-PESA moves whole shillings only.') }
    if (!mobile.test(instruction.phoneNumber)) {
      return { kind: 'refused', ...failure('invalid_destination', null, 'The payer is not a Kenyan mobile number.') }
    }
    const order = {
      TransactionType: options.transactionType,
      Amount: amount,
      PartyA: instruction.phoneNumber,
      PartyB: options.tillNumber ?? options.shortcode,
      PhoneNumber: instruction.phoneNumber,
      CallBackURL: instruction.callbacks.result,
      AccountReference: freeText(instruction.reference, 12, 'TOPUP'),
      TransactionDesc: 'Top-up',
    }
    const permission = permissionFor(instruction.permission, order)
    const answer = await post('/mpesa/stkpush/v1/processrequest', { ...proof(), ...order }, permission)
    const refused = refusalOf(answer)
    if (refused) return refused
    return readSubmission(answer, (body) => {
      const request = textField(body, 'CheckoutRequestID')
      return request === undefined ? undefined : { request, conversation: textField(body, 'MerchantRequestID') ?? null }
    })
  }

  const query = async (attempt: Attempt): Promise<Evidence> => {
    const request = attempt.provider.request
    if (request === null) return findPaidIn(post, options.shortcode, attempt, clock.now())
    return readCollectionQuery(await post('/mpesa/stkpushquery/v1/query', { ...proof(), CheckoutRequestID: request }), request)
  }

  /** Prompts and deposits may come in on different ones. */
  const shortcodes = [...new Set([options.shortcode, options.deposits?.shortcode ?? options.shortcode])]
  return {
    listPaidIn: async (period) => {
      const lists = await Promise.all(shortcodes.map((shortcode) => listPaidIn(post, shortcode, period)))
      return lists.every((list) => list !== undefined) ? lists.flatMap((list) => list ?? []) : undefined
    },
    ready: post.ready,
    collect,
    query,
    readDelivery: readCollectionDelivery,
  }
}
