import { type FailureCode, failure } from '../errors/failures.ts'
import type { Minor } from '../lib/money.ts'
import type { Exchange } from './exchange.ts'
import type { Evidence, NameAnswer, ProviderReference, Submission } from './rail.ts'
import { personName, withoutNumber } from './text.ts'

export type Refused = Submission & { kind: 'refused' }
export const refused = (code: FailureCode, message: string): Refused => ({ kind: 'refused', ...failure(code, null, message) })
export const refusedByProvider = (code: string, message: string): Refused => ({
  kind: 'refused',
  ...failure('provider_refused', code, message),
})

const reportedName = (text: string | undefined): string | undefined => personName(withoutNumber(text ?? '')) ?? undefined

/** `providerStatus`: the provider's own status of the payment, if any. */
export const unknown = (code: string, message: string, providerStatus?: string): Evidence => ({
  kind: 'unknown',
  code,
  message,
  ...(providerStatus !== undefined && providerStatus !== '' && { providerStatus }),
})
const unreadablePayment = (code: string, message: string): Evidence => ({ kind: 'unknown', code, message, moved: true })

export const noReference: ProviderReference = { request: null, conversation: null }

/** The receipt makes the success unique. `amountMinor` null: this provider may omit the amount. */
export const succeeded = (receipt: string | undefined, amountMinor: Minor | null | undefined, payee?: string): Evidence => {
  if (receipt === undefined) return unreadablePayment('no_receipt', 'The provider reports a success without a receipt.')
  if (amountMinor === undefined)
    return unreadablePayment('no_amount', 'The provider reports a success without a readable amount.')
  const payeeName = reportedName(payee)
  return { kind: 'succeeded', receipt, amountMinor, ...(payeeName !== undefined && { payeeName }) }
}

/** `amountMinor` null: the provider states no amount. Undefined: its amount cannot be read. */
export const returned = (
  receipt: string | undefined,
  amountMinor: Minor | null | undefined,
  message: string,
  providerStatus: string,
): Evidence => {
  const evidence = { kind: 'returned', receipt: receipt ?? null, message, providerStatus } as const
  return amountMinor === undefined ? { ...evidence, amountMinor: null, isUnread: true } : { ...evidence, amountMinor }
}

/** Only a name counts, because success codes vary. A refusal means that there is no name. Any other response proves nothing. */
export const readNameAnswer = (answer: Exchange, nameIn: (body: unknown) => string | undefined): NameAnswer => {
  if (answer.kind !== 'answer' || answer.body === undefined) return { kind: 'unreachable' }
  const name = answer.status < 300 ? reportedName(nameIn(answer.body)) : undefined
  if (name !== undefined) return { kind: 'named', name }
  const isRefusal = answer.status >= 400 && answer.status < 500 && ![401, 403, 408, 429].includes(answer.status)
  return answer.status < 300 || isRefusal ? { kind: 'nameless' } : { kind: 'unreachable' }
}
