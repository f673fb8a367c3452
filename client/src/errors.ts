import type { components } from './api-types.generated.ts'

type Schemas = components['schemas']
/** Error codes for programs. A code that the service adds later arrives as a plain `PaymentsError`. */
export type ErrorCode = Schemas['Error']['error']
export type Decision = Schemas['Decision']
export type FieldError = { path: string; message: string }

/** Details of a refusal, as in the API document. All are optional, because the response may be from a proxy. */
export type CommonDetails = Partial<Schemas['ErrorDetails']>

export type Refused = {
  status: number
  code: string
  message: string
  details: Record<string, unknown>
  requestId: string | undefined
  shouldRetry: boolean | undefined
  retryAfterMs: number | undefined
}

/** A refusal by the service. `requestId` identifies the request in the service's logs. */
export class PaymentsError<Details = Record<string, unknown>> extends Error {
  readonly status: number
  readonly code: string
  readonly details: CommonDetails & Details
  readonly requestId: string | undefined
  /** Whether the same request may be sent again. Undefined if the response does not say, for example from a proxy. */
  readonly shouldRetry: boolean | undefined
  readonly retryAfterMs: number | undefined

  constructor(refused: Refused) {
    super(refused.message)
    this.name = new.target.name
    this.status = refused.status
    this.code = refused.code
    this.details = refused.details as CommonDetails & Details
    this.requestId = refused.requestId
    this.shouldRetry = refused.shouldRetry
    this.retryAfterMs = refused.retryAfterMs
  }
}

/** No complete response arrived after all attempts. The outcome is unknown: call again with the same `idempotencyKey`. */
export class ConnectionError extends Error {
  readonly idempotencyKey: string | undefined

  constructor(message: string, options: { cause: unknown; idempotencyKey: string | undefined }) {
    super(message, { cause: options.cause })
    this.name = 'ConnectionError'
    this.idempotencyKey = options.idempotencyKey
  }
}

export class InvalidRequestError extends PaymentsError {}
export class InvalidCursorError extends PaymentsError {}
export class AuthenticationRequiredError extends PaymentsError {}
export class InvalidTokenError extends PaymentsError {}
export class TokenExpiredError extends PaymentsError {}
export class ApiKeyRevokedError extends PaymentsError {}
export class ApiKeyExpiredError extends PaymentsError {}
export class SessionRevokedError extends PaymentsError {}
export class InvalidSignatureError extends PaymentsError {}
export class InsufficientFundsError extends PaymentsError {}
export class ForbiddenError extends PaymentsError {}
export class AdminRequiredError extends PaymentsError {}
export class WorkspaceFrozenError extends PaymentsError {}
export class GrantFrozenError extends PaymentsError {}
export class BeneficiaryFrozenError extends PaymentsError {}
export class MembershipSuspendedError extends PaymentsError {}
export class AccountFrozenError extends PaymentsError {}
export class CapabilityDisabledError extends PaymentsError {}
export class PolicyDeniedError extends PaymentsError<{ decision: Decision }> {}
export class SeparationOfDutiesError extends PaymentsError {}
export class CsrfRejectedError extends PaymentsError {}
export class StepUpRequiredError extends PaymentsError<{ max_age_seconds: number; proven_at: string | null }> {}
export class NotFoundError extends PaymentsError {}
export class MethodNotAllowedError extends PaymentsError {}
export class ConflictError extends PaymentsError {}
export class LastIdentityError extends PaymentsError {}
export class LastOwnerError extends PaymentsError {}
export class PayloadTooLargeError extends PaymentsError {}
export class UnsupportedMediaTypeError extends PaymentsError {}
export class RateLimitedError extends PaymentsError {}
export class InternalError extends PaymentsError {}
export class ProviderError extends PaymentsError {}
export class ProviderNotConfiguredError extends PaymentsError {}
export class UnavailableError extends PaymentsError {}

/** Does not compile if a code of the API document is missing here. */
export const errorClasses = {
  invalid_request: InvalidRequestError,
  invalid_cursor: InvalidCursorError,
  authentication_required: AuthenticationRequiredError,
  invalid_token: InvalidTokenError,
  token_expired: TokenExpiredError,
  api_key_revoked: ApiKeyRevokedError,
  api_key_expired: ApiKeyExpiredError,
  session_revoked: SessionRevokedError,
  invalid_signature: InvalidSignatureError,
  insufficient_funds: InsufficientFundsError,
  forbidden: ForbiddenError,
  admin_required: AdminRequiredError,
  workspace_frozen: WorkspaceFrozenError,
  grant_frozen: GrantFrozenError,
  beneficiary_frozen: BeneficiaryFrozenError,
  membership_suspended: MembershipSuspendedError,
  account_frozen: AccountFrozenError,
  capability_disabled: CapabilityDisabledError,
  policy_denied: PolicyDeniedError,
  separation_of_duties: SeparationOfDutiesError,
  csrf_rejected: CsrfRejectedError,
  step_up_required: StepUpRequiredError,
  not_found: NotFoundError,
  method_not_allowed: MethodNotAllowedError,
  conflict: ConflictError,
  last_identity: LastIdentityError,
  last_owner: LastOwnerError,
  payload_too_large: PayloadTooLargeError,
  unsupported_media_type: UnsupportedMediaTypeError,
  rate_limited: RateLimitedError,
  internal_error: InternalError,
  provider_error: ProviderError,
  provider_not_configured: ProviderNotConfiguredError,
  unavailable: UnavailableError,
} satisfies Record<ErrorCode, new (refused: Refused) => PaymentsError>

const classes: Readonly<Record<string, new (refused: Refused) => PaymentsError>> = errorClasses

export const toError = (refused: Refused): PaymentsError => new (classes[refused.code] ?? PaymentsError)(refused)
