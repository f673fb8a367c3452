import { permissionFor } from '../fingerprint.ts'
import { textField } from '../json.ts'
import type { Attempt, Evidence, LookUp, PayoutAdapter, PayoutInstruction, Submission } from '../rail.ts'
import { safeCode } from '../text.ts'
import type { Post } from './gateway.ts'
import type { DarajaOptions } from './options.ts'
import { readPayoutDelivery } from './payout-evidence.ts'
import { preparePayout } from './payout-request.ts'
import { readSubmission } from './submission.ts'

const unknownOutcome = (code: string, message: string): Evidence => ({ kind: 'unknown', code, message })

export const createPayoutRail = (
  options: DarajaOptions,
  post: Post,
  { credential, lookUp }: { credential: () => string; lookUp: LookUp },
): PayoutAdapter => {
  const pay = async (instruction: PayoutInstruction): Promise<Submission> => {
    const prepared = preparePayout(options, credential(), instruction)
    if ('refusal' in prepared) return { kind: 'refused', ...prepared.refusal }
    const sentId = instruction.rail === 'MPESA_B2C' ? instruction.orderId : null
    // The credential is encrypted anew for each request; everything else is the order.
    const { SecurityCredential: _, ...order } = prepared.body
    const permission = permissionFor(instruction.permission, order)
    const answer = await post(prepared.path, prepared.body, permission)
    const referenceOf = (body: unknown) => {
      const request = textField(body, 'OriginatorConversationID') ?? sentId
      const conversation = textField(body, 'ConversationID') ?? null
      return request === null && conversation === null ? undefined : { request, conversation }
    }
    return readSubmission(answer, referenceOf, sentId !== null)
  }

  /**
   * Queries by the id under which the payout was sent. The answer comes as a delivery to the attempt's result URL, so the best that this
   * can return is `pending`. For a B2B payout whose submit was not answered, the provider knows no id: only its own delivery, or a person
   * with the statement, can show the outcome.
   */
  const query = async (attempt: Attempt): Promise<Evidence> => {
    const original = attempt.provider.request ?? (attempt.rail === 'MPESA_B2C' ? attempt.orderId : null)
    if (original === null) return unknownOutcome('no_reference', 'The provider gave no id to query by.')
    const answer = await post('/mpesa/transactionstatus/v1/query', {
      Initiator: options.initiatorName,
      SecurityCredential: credential(),
      CommandID: 'TransactionStatusQuery',
      OriginalConversationID: original,
      PartyA: (attempt.rail === 'MPESA_B2C' ? options.b2cShortcode : options.b2bShortcode) ?? options.shortcode,
      IdentifierType: '4',
      ResultURL: attempt.callbacks.result,
      QueueTimeOutURL: attempt.callbacks.timeout,
      Remarks: 'Status of a payment',
      Occasion: attempt.reference,
    })
    if (answer.kind !== 'answer') return unknownOutcome('unreachable', 'The provider could not be queried.')
    if (answer.status < 300 && textField(answer.body, 'ResponseCode') === '0') return { kind: 'pending' }
    return unknownOutcome(safeCode(textField(answer.body, 'errorCode')), 'The provider did not accept the query.')
  }

  return { ready: post.ready, pay, lookUp, query, readDelivery: readPayoutDelivery }
}
