import { PaymentsError } from '#client'
import { type Advice, adviceOf } from '../../../src/errors/advice.ts'
import { adviceText, errorText, t } from '../lib/language.ts'

export type FieldProblem = { path: string; message: string }

type Refused = Pick<PaymentsError, 'status' | 'code' | 'message' | 'details'> &
  Partial<Pick<PaymentsError, 'requestId' | 'shouldRetry'>>

/** An error answer of the service, from its error envelope. `status` is 0 if the service was not reached. */
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

/** Parses the error of a route whose success is not JSON: a file, a redirect. */
export const toApiError = (status: number, body: unknown, requestId: string | null): ApiError => {
  const envelope = isRecord(body) ? body : {}
  const details = isRecord(envelope.details) ? envelope.details : {}
  const code = typeof envelope.error === 'string' ? envelope.error : 'unexpected_answer'
  const message = typeof envelope.message === 'string' ? envelope.message : t('error.answered', { status })
  return new ApiError({ status, code, message, details, requestId: requestId ?? undefined })
}

export const unreachable = (): ApiError =>
  new ApiError({ status: 0, code: 'unreachable', message: t('error.unreachable'), details: {} })

/** Fetches something other than an API route: a file, a document, a raw answer. */
export const fetchOrUnreachable = (address: string, init?: RequestInit): Promise<Response> =>
  fetch(address, init).catch(() => {
    throw unreachable()
  })

/** Loads a script that an action needs. A failed load shows the same error as an unreachable service. */
export const loadScript = <Module>(load: () => Promise<Module>): Promise<Module> =>
  load().catch(() => {
    throw unreachable()
  })

/** Whether the session has ended. A 401 with `invalid_signature` is about a signature, not the session. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 401 && error.code !== 'invalid_signature'

/** Whether a retry may succeed: the service was not reached, or it failed. Other errors are never retried. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500) && error.code !== 'provider_not_configured'

export const hasCode = (error: unknown, code: string): boolean => error instanceof ApiError && error.code === code

/** Whether the approval's text has changed since the page showed it. */
export const isTextChanged = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'conflict' && error.details.reason === 'message_changed'

/** Advice for error codes that exist only in the dashboard. */
const ownAdvice: Readonly<Record<string, string>> = {
  unreachable: t('error.unreachable_advice'),
}

const adviceRow = (error: unknown): Advice | undefined => {
  const advice = error instanceof ApiError ? adviceOf(error.code) : undefined
  const { person, page: label } = (error instanceof ApiError ? adviceText(error.code) : undefined) ?? {}
  if (!advice || person === undefined) return advice
  return { person, page: advice.page && { ...advice.page, ...(label !== undefined && { label }) } }
}

/** Advice to the person: the dashboard's own, else the service's, else a general one. */
export const adviceFor = (error: unknown): string => {
  if (!(error instanceof ApiError)) return t('error.reload')
  // The text omits the request ID: a button beside it copies the ID.
  const forSupport = error.requestId ? t('error.give_id') : t('error.contact')
  // The advice for `invalid_request` is about fields that a person can correct, which only a form has.
  const row = error.code === 'invalid_request' && error.fields.length === 0 ? undefined : adviceRow(error)
  return ownAdvice[error.code] ?? row?.person ?? t('error.again', { for_support: forSupport })
}

export const pageFor = (error: unknown): { path: string; label: string } | undefined => adviceRow(error)?.page

export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return t('error.unknown')
  return (error instanceof ApiError ? errorText(error.code) : undefined) ?? error.message
}

/** The service's English message, if the page shows a translation of its code instead. */
export const detailOf = (error: unknown): string | null =>
  error instanceof ApiError && errorText(error.code) ? error.message : null

/** A wallet or a passkey did not sign. The person at this device can fix that; support cannot. */
export class DeviceError extends Error {
  override name = 'DeviceError'
}
