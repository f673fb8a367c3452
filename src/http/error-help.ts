import type { ErrorCode } from '../lib/errors.ts'

/** What a caller can do about a refusal, and which fields of `details` help with it. */
export type ErrorHelp = { fix: string; details?: string }

export const errorHelp: Readonly<Record<ErrorCode, ErrorHelp>> = {
  invalid_request: {
    fix: 'Correct what the fields name and send the request again. Unknown fields and query parameters are refused too, so that a typing error in a limit or a filter is never ignored.',
    details: '`fields`: a list of `{path, message}`; `param`: the path, where it is one alone.',
  },
  invalid_cursor: {
    fix: 'Send `next_cursor` of the page before, of the same list, as it was. To begin again, leave `cursor` out.',
  },
  authentication_required: {
    fix: 'Send `Authorization: Bearer <token>`, where the token is an API key (`service_live_…`), an OAuth access token or a dashboard token. A browser sends the cookie of its session.',
  },
  invalid_token: {
    fix: 'Check that the whole token was sent, after the word `Bearer` and one space. Create a new key, or ask for a new access token, where it is lost.',
  },
  token_expired: { fix: 'Use the refresh token at `POST /v1/oauth/token`, or ask the user again.' },
  api_key_revoked: { fix: 'Ask the person who manages the account for another key. A rotated key ends when its overlap does.' },
  api_key_expired: { fix: 'Ask for a new key; `expires_at` of a key says when it ends.' },
  session_revoked: { fix: 'Sign in again.' },
  invalid_signature: {
    fix: 'Sign the text as the service gave it, byte for byte, with a wallet that may decide. A nonce works once, within ten minutes.',
    details:
      '`field`: what was wrong; `expected`: what it must be; `recovered_address`: the address that signed, where it is known.',
  },
  insufficient_funds: {
    fix: 'Top the account up with `POST /v1/topups/initiate`, or pay less.',
    details: '`available_minor` and `requested_minor`, for callers that may read the account.',
  },
  forbidden: {
    fix: 'Use a credential that has the permission: a key that was created with it, or an OAuth grant with the scope.',
    details: '`required_permission`: what is missing.',
  },
  admin_required: {
    fix: 'Only accounts that `ADMIN_ACCOUNTS` names may do this, signed in by themselves and not through a key.',
  },
  workspace_frozen: { fix: 'A member with `workspace.manage` ends it with `POST /v1/workspaces/current/unfreeze`.' },
  grant_frozen: {
    fix: 'The person who manages the grant ends it with `PATCH /v1/accounts/me/grants/{id}` and `{"frozen": false}`.',
  },
  beneficiary_frozen: {
    fix: 'A member with `beneficiary.manage` ends it with `PATCH /v1/beneficiaries/{id}` and `{"status": "active"}`.',
  },
  membership_suspended: { fix: 'An owner or administrator of the workspace makes the membership active again.' },
  account_frozen: { fix: 'An administrator of the service stopped this account: contact support.' },
  capability_disabled: {
    fix: 'An administrator of the service switched this off for the account: contact support.',
    details: '`capability`: which one.',
  },
  policy_denied: {
    fix: 'Read `details.decision`: its `trace` names the rule that refused, its `remedy` the smallest change that would let the payment pass. Do not send the payment again unchanged.',
    details: '`decision`: the whole decision.',
  },
  separation_of_duties: { fix: 'Another member has to decide: the initiator of a payment does not approve it.' },
  csrf_rejected: {
    fix: 'Send the request from this site or from an origin in `CORS_ORIGINS`, or use a bearer token instead of the cookie.',
  },
  not_found: {
    fix: 'Check the path and the id. What belongs to another tenant is answered in the same way as what does not exist.',
    details: '`field`: the field or header whose id names nothing.',
  },
  method_not_allowed: { fix: 'Use one of the methods in the header `Allow`.' },
  conflict: {
    fix: 'Read the resource again and decide again. With the reason `idempotency`: the key was used with another body; use a new key for a new request.',
    details: '`reason`: one of a closed list; more fields as the reason needs.',
  },
  last_identity: { fix: 'Link another sign-in method first.' },
  last_owner: { fix: 'Make another member an owner first. The owning account always stays one.' },
  payload_too_large: { fix: 'Send at most 64 KiB.' },
  unsupported_media_type: {
    fix: 'Send `Content-Type: application/json`. The endpoints of OAuth take `application/x-www-form-urlencoded`.',
  },
  rate_limited: { fix: 'Wait for the seconds in `Retry-After`. `RateLimit-Remaining` says how many requests are left.' },
  internal_error: {
    fix: 'Send the request again with the same `Idempotency-Key`. Report `details.request_id` if it stays.',
    details: '`request_id`: the name of the request in our logs.',
  },
  provider_error: { fix: 'Try again later, with the same `Idempotency-Key`.' },
  provider_not_configured: { fix: 'This deployment has no such provider: use another sign-in method, or another rail.' },
  unavailable: {
    fix: 'Send the request again after `Retry-After` seconds, with the same `Idempotency-Key`: it has one effect at most.',
  },
}
