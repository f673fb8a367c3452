import { type ErrorCode, errorRow } from '../errors/catalogue.ts'
import type { ConflictReason } from './conflict-reasons.ts'

export type ErrorDetails = Record<string, unknown>
export type FieldError = { path: string; message: string }

/** The only class for refusals: a decision of the service, reported to the caller. Any other error is a bug. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: ErrorDetails | undefined
  readonly headers: Record<string, string> | undefined

  constructor(
    code: ErrorCode,
    options: { message?: string; details?: ErrorDetails; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(options.message ?? errorRow(code).sentence, { cause: options.cause })
    this.name = 'Refusal'
    this.code = code
    this.status = errorRow(code).status
    this.details = options.details
    this.headers = options.headers
  }
}

/**
 * Thrown inside a transaction, it commits what was written so far and then throws `error`: for a refusal that must leave a trace (an
 * audited denial, a used nonce, the reuse of a refresh token). Every other error undoes its transaction.
 */
export class CommitThenThrow extends Error {
  readonly error: Error

  constructor(error: Error) {
    super(error.message, { cause: error })
    this.name = 'CommitThenThrow'
    this.error = error
  }
}

const fieldsInMessage = 5
/** What a stranger sends can have tens of thousands of faults, with names as long as the body: an answer names these, and counts the rest. */
export const namedFaults = 100
const longestPath = 200

/** 400 with `details.fields`: the form of every validation failure. A program may show the message alone, so it also says what to correct. */
export const refuseFields = (all: readonly FieldError[]): Refusal => {
  const fields = all.slice(0, namedFaults).map(({ path, message }) => ({ path: path.slice(0, longestPath), message }))
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

/** `field`: the body's field, or the header, with an id that does not exist (or belongs to another tenant: the answer is the same). */
export const notFound = (field?: string) =>
  field === undefined
    ? new Refusal('not_found')
    : new Refusal('not_found', {
        message: `${field}: there is no such resource, or this credential may not read it.`,
        details: { field },
      })

/** What the work returns, or the refusal that it throws. */
export const orRefusal = <T>(work: () => T): T | Refusal => {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** The record that was looked up, or the refusal that says no more than that it is not there for this caller. */
export const found = <T>(record: T | null | undefined): T => {
  if (record === null || record === undefined) throw notFound()
  return record
}

export const permissionMissing = (permission: string) =>
  new Refusal('forbidden', { message: `This needs the permission ${permission}.`, details: { required_permission: permission } })

/** A passkey's signature that may not decide this. */
export const wrongPasskey = (problem: string) =>
  new Refusal('invalid_signature', {
    message: `The passkey's signature was not accepted: ${problem}.`,
    details: { field: 'passkey' },
  })

/** A signature that may not decide this; `recovered`: the signing address, where it is known. */
export const wrongSignature = (recovered: string | undefined, message?: string) =>
  new Refusal('invalid_signature', {
    ...(message !== undefined && { message }),
    details: { field: 'signature', recovered_address: recovered ?? null },
  })

export const conflict = (message: string, reason?: ConflictReason, more?: ErrorDetails) =>
  new Refusal('conflict', {
    message,
    ...((reason !== undefined || more) && { details: { ...(reason !== undefined && { reason }), ...more } }),
  })

/** Why the service could not start, in one sentence that says what to change. Printed without a stack. */
export class StartupError extends Error {
  constructor(sentence: string, options: { cause?: unknown } = {}) {
    super(sentence, { cause: options.cause })
    this.name = 'StartupError'
  }
}
