import { PaymentsError } from '#client'
import { type Advice, adviceOf } from '../../../src/errors/advice.ts'
import { adviceText, errorText, t } from '../lib/language.ts'

export type FieldProblem = { path: string; message: string }

type Refused = Pick<PaymentsError, 'status' | 'code' | 'message' | 'details'> &
  Partial<Pick<PaymentsError, 'requestId' | 'shouldRetry'>>

/** A refusal of the service, from its error envelope. `status` 0: the service was not reached. */
export class ApiError extends PaymentsError {
  constructor({ status, code, message, details, requestId, shouldRetry }: Refused) {
    super({ status, code, message, details, requestId, shouldRetry, retryAfterMs: undefined })
  }

  get fields(): FieldProblem[] {
    const { fields } = this.details
    return Array.isArray(fields) ? fields.filter(isFieldProblem) : []
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const isFieldProblem = (value: unknown): value is FieldProblem =>
  isRecord(value) && typeof value.path === 'string' && typeof value.message === 'string'

/** For an answer that is no JSON when it is good: a file, a redirect. */
export const toApiError = (status: number, body: unknown, requestId: string | null): ApiError => {
  const envelope = isRecord(body) ? body : {}
  const details = isRecord(envelope.details) ? envelope.details : {}
  const code = typeof envelope.error === 'string' ? envelope.error : 'unexpected_answer'
  const message = typeof envelope.message === 'string' ? envelope.message : t('error.answered', { status })
  return new ApiError({ status, code, message, details, requestId: requestId ?? undefined })
}

export const unreachable = (): ApiError =>
  new ApiError({ status: 0, code: 'unreachable', message: t('error.unreachable'), details: {} })

/** For what is no call of the API: a file, a document, an answer as it came. */
export const reach = (address: string, init?: RequestInit): Promise<Response> =>
  fetch(address, init).catch(() => {
    throw unreachable()
  })

/** A script that an act needs. Without it the act fails as it does without the service. */
export const loadScript = <Module>(load: () => Promise<Module>): Promise<Module> =>
  load().catch(() => {
    throw unreachable()
  })

/** No one is signed in any more, for whatever reason. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 401 && error.code !== 'invalid_signature'

export const hasCode = (error: unknown, code: string): boolean => error instanceof ApiError && error.code === code

/** The text of an approval was made again since it was read. */
export const isTextChanged = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'conflict' && error.details.reason === 'message_changed'

/** Codes of the page itself. */
const ownAdvice: Readonly<Record<string, string>> = {
  unreachable: t('error.unreachable_advice'),
}

const rowOf = (error: unknown): Advice | undefined => {
  const advice = error instanceof ApiError ? adviceOf(error.code) : undefined
  const { person, page: label } = (error instanceof ApiError ? adviceText(error.code) : undefined) ?? {}
  if (!advice || person === undefined) return advice
  return { person, page: advice.page && { ...advice.page, ...(label !== undefined && { label }) } }
}

/** What a person can do about it, in the service's words. */
export const adviceFor = (error: unknown): string => {
  if (!(error instanceof ApiError)) return t('error.reload')
  // With a request ID there is a button beside it that copies the ID.
  const forSupport = error.requestId ? t('error.give_id') : t('error.contact')
  // Only a form has fields that a person can correct.
  const row = error.code === 'invalid_request' && error.fields.length === 0 ? undefined : rowOf(error)
  return ownAdvice[error.code] ?? row?.person ?? t('error.again', { forSupport })
}

export const pageFor = (error: unknown): { path: string; label: string } | undefined => rowOf(error)?.page

export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return t('error.unknown')
  return (error instanceof ApiError ? errorText(error.code) : undefined) ?? error.message
}

/** What the service said of this request, in English, where the page says in another language what its code means. */
export const detailOf = (error: unknown): string | null =>
  error instanceof ApiError && errorText(error.code) ? error.message : null

/** Why a wallet or a passkey signed nothing, for the person at this device: support can do nothing about it. */
export class DeviceError extends Error {
  override name = 'DeviceError'
}
