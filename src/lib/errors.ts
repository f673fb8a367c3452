import type { ConflictReason } from './conflict-reasons.ts'

/** Every refusal of the service: its HTTP status and its default sentence. */
export const catalogue = {
  invalid_request: [400, 'The request is not valid.'],
  invalid_cursor: [400, 'The cursor is not one that this list gave out.'],
  authentication_required: [401, 'Authentication is required.'],
  invalid_token: [401, 'The credential is not known.'],
  token_expired: [401, 'The token has expired.'],
  api_key_revoked: [401, 'This API key has been revoked.'],
  api_key_expired: [401, 'This API key has expired.'],
  session_revoked: [401, 'This session has ended.'],
  invalid_signature: [401, 'The signature is not one that may decide this.'],
  insufficient_funds: [402, 'The available balance does not cover this payment.'],
  forbidden: [403, 'The credential does not carry the permission that this operation needs.'],
  admin_required: [403, 'Only an administrator may do this.'],
  workspace_frozen: [403, 'The workspace is frozen.'],
  grant_frozen: [403, 'The grant of this credential, or one above it, is frozen.'],
  beneficiary_frozen: [403, 'Payments to this beneficiary are stopped.'],
  membership_suspended: [403, 'The membership in this workspace is suspended.'],
  account_frozen: [403, 'The account is frozen.'],
  capability_disabled: [403, 'This capability is disabled for the account.'],
  policy_denied: [403, 'A spending rule refuses this payment; details.decision names it.'],
  separation_of_duties: [403, 'The initiator of a payment may not decide it.'],
  csrf_rejected: [403, 'The request came from another site.'],
  not_found: [404, 'There is no such resource.'],
  method_not_allowed: [405, 'This path does not take this method; the header Allow lists those that it takes.'],
  conflict: [409, 'The request conflicts with the current state.'],
  last_identity: [409, 'An account keeps at least one sign-in method.'],
  last_owner: [409, 'A workspace keeps at least one owner, and its owning account.'],
  payload_too_large: [413, 'The request body is too large.'],
  unsupported_media_type: [415, 'The request body must be application/json.'],
  rate_limited: [429, 'Too many requests.'],
  internal_error: [500, 'Something went wrong on our side.'],
  provider_error: [502, 'The provider did not answer as it should.'],
  provider_not_configured: [503, 'This provider is not configured.'],
  unavailable: [503, 'The service cannot answer right now; try again.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>

export type ErrorCode = keyof typeof catalogue

/** The refusals that may not occur again when the same request is sent later. Every other one needs a different request. */
const passing: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'provider_error', 'unavailable'])
export const shouldRetry = (code: ErrorCode): boolean => passing.has(code)
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
    super(options.message ?? catalogue[code][1], { cause: options.cause })
    this.name = 'Refusal'
    this.code = code
    this.status = catalogue[code][0]
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

/** 400 with `details.fields`: the form of every validation failure. */
const fieldsInMessage = 5

/** A program may show the message alone, so the message also says what to correct. */
export const invalidFields = (...fields: FieldError[]) => {
  const sentences = fields.slice(0, fieldsInMessage).map(({ path, message }) => `${path}: ${message}`)
  if (fields.length > fieldsInMessage) sentences.push(`and ${fields.length - fieldsInMessage} more in details.fields`)
  return new Refusal('invalid_request', { message: sentences.join('; ') || catalogue.invalid_request[1], details: { fields } })
}

/** `field`: the body's field, or the header, with an id that does not exist (or belongs to another tenant: the answer is the same). */
export const notFound = (field?: string) =>
  field === undefined
    ? new Refusal('not_found')
    : new Refusal('not_found', { message: `${field} names nothing that this credential can see.`, details: { field } })
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
