import { type ErrorCode, errorRow } from '../errors/catalogue.ts'
import type { ConflictReason } from './conflict-reasons.ts'
import type { details } from './error-details.ts'
import { cleanText } from './text.ts'

/** Values for the details that `details` describes. */
export type ErrorDetails = Partial<Record<keyof typeof details, unknown>>
export type FieldError = { path: string; message: string }

/** The metric label of each temporary failure, and the message for the caller. */
export const shortages = {
  busy: 'Too many requests are under way. Try again.',
  queue_full: 'Too many requests wait already. Try again.',
  connection_timeout: 'The service is busy. Try again.',
  lock_timeout: 'Another request locked the same records for too long. Try again.',
  statement_timeout: 'The request took too long. Try again.',
  contention: 'Other requests changed the same records at the same time. Try again.',
  database: 'The service is temporarily unavailable. Try again.',
} as const
export type Shortage = keyof typeof shortages

/** The only class for refusals. Any other error is a bug. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: ErrorDetails | undefined
  readonly headers: Record<string, string> | undefined
  readonly shortage: Shortage | undefined

  constructor(
    code: ErrorCode,
    options: {
      message?: string
      details?: ErrorDetails
      headers?: Record<string, string>
      cause?: unknown
      shortage?: Shortage | undefined
    } = {},
  ) {
    super(options.message ?? errorRow(code).sentence, { cause: options.cause })
    this.name = 'Refusal'
    this.code = code
    this.status = errorRow(code).status
    this.details = options.details
    this.headers = options.headers
    this.shortage = options.shortage
  }
}

/** Commits the transaction's writes so far, then throws `error`, for refusals that must leave a trace. */
export class CommitThenThrow extends Error {
  readonly error: Error

  constructor(error: Error) {
    super(error.message, { cause: error })
    this.name = 'CommitThenThrow'
    this.error = error
  }
}

/** A temporary failure: the same request may succeed a second later. */
export const unavailable = (options: { message?: string; shortage?: Shortage; cause?: unknown } = {}) => {
  const { shortage } = options
  return new Refusal('unavailable', {
    ...(shortage && { message: shortages[shortage] }),
    ...options,
    headers: { 'retry-after': '1' },
  })
}

/** Whether the same request may succeed later. */
export const isTemporary = (error: unknown): boolean => error instanceof Refusal && error.code === 'unavailable'

/** The locks were taken for the workspace's previous balance account. */
export const balanceMoved = () => unavailable({ message: 'This workspace has just got a balance of its own.' })

const fieldsInMessage = 5
/** Maximum number of faults listed in a response. A stranger's request can have tens of thousands. */
export const maxNamedFaults = 100
const longestPath = 200

/** The message includes the corrections, because a program may show only the message. */
export const refuseFields = (all: readonly FieldError[]): Refusal => {
  const fields = all.slice(0, maxNamedFaults).map(({ path, message }) => ({
    // Callers choose some of the names in a path.
    path: cleanText(path.slice(0, longestPath)) || 'body',
    message,
  }))
  const sentences = fields.slice(0, fieldsInMessage).map(({ path, message }) => `${path}: ${message}`)
  const more = all.length - fields.length
  if (all.length > fieldsInMessage)
    sentences.push(`and ${all.length - fieldsInMessage} more${more > 0 ? '' : ' in details.fields'}`)
  return new Refusal('invalid_request', {
    message: sentences.join('; ') || errorRow('invalid_request').sentence,
    details: { fields, ...(more > 0 && { more }) },
  })
}

export const invalidFields = (...fields: FieldError[]) => refuseFields(fields)

/** A 400 whose message is a whole sentence. `path`: `request` if no single part of the request is to blame. */
export const invalidAt = (path: string, message: string, code: 'invalid_request' | 'invalid_cursor' = 'invalid_request') =>
  new Refusal(code, { message, details: { fields: [{ path, message }] } })

/** `field`: the body field or header that contains the id. Another tenant's id gets the same response. */
export const notFound = (field?: string) =>
  field === undefined
    ? new Refusal('not_found')
    : new Refusal('not_found', {
        message: `${field}: there is no such resource, or this credential may not read it.`,
        details: { field },
      })

export const catchRefusal = <T>(work: () => T): T | Refusal => {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

export const found = <T>(record: T | null | undefined): T => {
  if (record === null || record === undefined) throw notFound()
  return record
}

export const permissionMissing = (permission: string) =>
  new Refusal('forbidden', { message: `This needs the permission ${permission}.`, details: { required_permission: permission } })

export const wrongPasskey = (problem: string) =>
  new Refusal('invalid_signature', {
    message: `The passkey's signature was not accepted: ${problem}.`,
    details: { field: 'passkey' },
  })

/** `recovered`: the address that signed, if known. */
export const wrongSignature = (recovered: string | undefined, message?: string) =>
  new Refusal('invalid_signature', {
    ...(message !== undefined && { message }),
    details: { field: 'signature', recovered_address: recovered ?? null },
  })

export const conflict = (message: string, reason: ConflictReason, more?: ErrorDetails) =>
  new Refusal('conflict', { message, details: { reason, ...more } })

/** For the time after a possible loss: a missing record may be a lost write, so the request must not be called invalid. */
export const writesMayBeLost = (what: string) =>
  new Refusal('unavailable', {
    message: `The database has lost ${what}: an operator must check it first. Send the request again later.`,
    details: { reason: 'database_lost_writes' },
    headers: { 'retry-after': '60' },
  })

/** A single sentence that tells the operator what to change. Printed without a stack. */
export class StartupError extends Error {
  override name = 'StartupError'
}
