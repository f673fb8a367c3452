export type FieldProblem = { path: string; message: string }

/** A refusal of the service, from its error envelope. `status` 0: the service was not reached. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(status: number, code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.details = details
  }

  get requestId(): string | null {
    const { request_id: id } = this.details
    return typeof id === 'string' ? id : null
  }

  get fields(): FieldProblem[] {
    const { fields } = this.details
    return Array.isArray(fields) ? fields.filter(isFieldProblem) : []
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const isFieldProblem = (value: unknown): value is FieldProblem =>
  isRecord(value) && typeof value.path === 'string' && typeof value.message === 'string'

export const toApiError = (status: number, body: unknown, requestId: string | null): ApiError => {
  const envelope = isRecord(body) ? body : {}
  const details = isRecord(envelope.details) ? envelope.details : {}
  const code = typeof envelope.error === 'string' ? envelope.error : 'unexpected_answer'
  const message = typeof envelope.message === 'string' ? envelope.message : `The service answered ${status}.`
  return new ApiError(status, code, message, requestId && !details.request_id ? { ...details, request_id: requestId } : details)
}

export const unreachable = (): ApiError => new ApiError(0, 'unreachable', 'The service could not be reached.')

/** No one is signed in any more, for whatever reason. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 401 && error.code !== 'invalid_signature'

export const hasCode = (error: unknown, code: string): boolean => error instanceof ApiError && error.code === code
