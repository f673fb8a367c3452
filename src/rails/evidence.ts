import { type FailureCode, failure } from '../errors/failures.ts'
import type { Minor } from '../lib/money.ts'
import type { Exchange } from './exchange.ts'
import type { Evidence, NameAnswer, ProviderReference, Submission } from './rail.ts'
import { personName, withoutNumber } from './text.ts'

export type Refused = Submission & { kind: 'refused' }

export const refused = (code: FailureCode, message: string, providerCode: string | null = null): Refused => ({
  kind: 'refused',
  ...failure(code, providerCode, message),
})

/** `providerStatus`: the provider's own status of the payment, if any. */
export const unknown = (code: string, message: string, providerStatus?: string): Evidence => ({
  kind: 'unknown',
  code,
  message,
  ...(providerStatus !== undefined && providerStatus !== '' && { providerStatus }),
})

const unreadablePayment = (code: string, message: string): Evidence => ({ kind: 'unknown', code, message, moved: true })

export const noReference: ProviderReference = { request: null, conversation: null }

const reportedName = (text: string | undefined): string | undefined => personName(withoutNumber(text ?? '')) ?? undefined

/** A success needs a receipt, by which it is booked once. `amountMinor` null: this provider may omit the amount. */
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

const notAboutTheName = [401, 403, 408, 429]

/** Success codes vary, so only a name in the body counts. A 4xx about the name means that the provider has none. */
export const readNameAnswer = (answer: Exchange, nameIn: (body: unknown) => string | undefined): NameAnswer => {
  if (answer.kind !== 'answer' || answer.body === undefined) return { kind: 'unreachable' }
  const name = answer.status < 300 ? reportedName(nameIn(answer.body)) : undefined
  if (name !== undefined) return { kind: 'named', name }
  const isRefusal = answer.status >= 400 && answer.status < 500 && !notAboutTheName.includes(answer.status)
  return answer.status < 300 || isRefusal ? { kind: 'nameless' } : { kind: 'unreachable' }
}
