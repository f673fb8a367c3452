/** An agent's next step. `new_credential`: the tool answers with the error itself, so that a client can ask its user. */
export type AgentStep = 'change_request' | 'wait' | 'ask_a_person' | 'stop' | 'new_credential'

type ErrorRow = {
  status: number
  sentence: string
  /** What a caller does about it. Code in backticks. */
  fix: string
  details?: string
  /** Default: `stop`. Only after `wait` the same request may pass without a change. */
  agent?: AgentStep
  person: string
  page?: { path: string; label: string }
}

const signInAgain = 'Sign in again to continue.'

/** All texts about refusals: envelope, API document, pages, reference of codes, MCP and dashboard read them here. */
const catalogue = {
  invalid_request: {
    status: 400,
    sentence: 'The request is not valid.',
    fix: 'Correct what `details.fields` names and send the request again. Unknown fields and query parameters are refused too, so that a typing error in a limit or a filter is never ignored.',
    details: '`fields`: a list of `{path, message}`; `param`: the path, if there is only one.',
    agent: 'change_request',
    person: 'Correct the marked fields and try again.',
  },
  invalid_cursor: {
    status: 400,
    sentence: 'The cursor is not one that this list returned.',
    fix: 'Send `next_cursor` of the previous page of the same list, unchanged. To start again, leave `cursor` out.',
    agent: 'change_request',
    person: 'Reload the page to read the list from its start.',
  },
  authentication_required: {
    status: 401,
    sentence: 'Authentication is required.',
    fix: 'Send `Authorization: Bearer <token>`, where the token is an API key (`service_live_…`), an OAuth access token or a dashboard token. A browser sends the cookie of its session.',
    agent: 'new_credential',
    person: 'Sign in to continue.',
  },
  invalid_token: {
    status: 401,
    sentence: 'The credential is not known.',
    fix: 'Check that the whole token was sent, after the word `Bearer` and one space. If it is lost, create a new key or ask for a new access token.',
    agent: 'new_credential',
    person: signInAgain,
  },
  token_expired: {
    status: 401,
    sentence: 'The token has expired.',
    fix: 'Use the refresh token at `POST /v1/oauth/token`, or ask the user to authorize again.',
    agent: 'new_credential',
    person: signInAgain,
  },
  api_key_revoked: {
    status: 401,
    sentence: 'This API key has been revoked.',
    fix: 'Ask the person who manages the account for another key. A rotated key stops working when its overlap ends.',
    agent: 'new_credential',
    person: 'Create another key under Developers.',
    page: { path: '/developers', label: 'Open Developers' },
  },
  api_key_expired: {
    status: 401,
    sentence: 'This API key has expired.',
    fix: 'Ask for a new key. `expires_at` of a key says when it stops working.',
    agent: 'new_credential',
    person: 'Create another key under Developers.',
    page: { path: '/developers', label: 'Open Developers' },
  },
  session_revoked: {
    status: 401,
    sentence: 'This session has ended.',
    fix: 'Sign in again.',
    agent: 'new_credential',
    person: signInAgain,
  },
  invalid_signature: {
    status: 401,
    sentence: 'The signature is not valid for this request.',
    fix: 'Sign the text exactly as the service returned it, byte for byte, with a wallet that may decide. A nonce works once, within ten minutes.',
    details:
      '`field`: what was wrong; `expected`: what it must be; `recovered_address`: the address that signed, where it is known.',
    agent: 'change_request',
    person: 'Sign again with a wallet that is linked to the account.',
  },
  insufficient_funds: {
    status: 402,
    sentence: 'The available balance does not cover this payment.',
    fix: 'Top up the account with `POST /v1/topups/initiate`, or pay less.',
    details:
      '`amount_minor`, `fee_minor`, `required_minor` and `available_minor`, for callers that may read the account. Of a list `total_minor` and `fees_minor`.',
    agent: 'ask_a_person',
    person: 'Top up the account or pay a smaller amount.',
    page: { path: '/top-up', label: 'Top up' },
  },
  forbidden: {
    status: 403,
    sentence: 'The credential does not have the permission that this operation needs.',
    fix: 'Use a credential that has the permission: a key that was created with it, or an OAuth grant with the scope.',
    details: '`required_permission`: what is missing.',
    agent: 'new_credential',
    person: 'Ask an owner or administrator of the workspace for a role that allows it.',
    page: { path: '/workspace', label: 'See the members' },
  },
  admin_required: {
    status: 403,
    sentence: 'Only an administrator may do this.',
    fix: 'Sign in with an account that `ADMIN_ACCOUNTS` names. Keys and agents never may.',
    person: 'Sign in with the account of an administrator of this service.',
  },
  step_up_required: {
    status: 403,
    sentence: 'This session has to prove again who its person is first.',
    fix: 'Sign in again within this session (`POST /v1/auth/wallet/verify`, or the start of Google or GitHub) with the method that it began with or one that was added before it began, or use such a passkey (`POST /v1/auth/proof`), or sign in to a new session. Then send the request again. Such a proof counts for ten minutes.',
    details:
      '`max_age_seconds`: how old the proof may be; `proven_at`: when it was last given; null for a dashboard token of a session, which cannot have one.',
    person: 'Confirm that it is you with the method that you signed in with, then try again.',
  },
  workspace_frozen: {
    status: 403,
    sentence: 'The workspace is frozen.',
    fix: 'A member with `workspace.manage` unfreezes it with `POST /v1/workspaces/current/unfreeze`.',
    person: 'An owner or administrator can unfreeze it on the workspace page.',
    page: { path: '/workspace', label: 'Open the workspace' },
  },
  grant_frozen: {
    status: 403,
    sentence: 'This key or agent, or one above it, is frozen.',
    fix: 'The person who manages the grant unfreezes it with `PATCH /v1/accounts/me/grants/{id}` and `{"frozen": false}`. If it was frozen by who manages the workspace, an owner or administrator does, with `PATCH /v1/workspaces/current/grants/{id}`.',
    person:
      'Whoever manages it can unfreeze it under Agents. If an owner or administrator of the workspace froze it, only they can.',
    page: { path: '/agents', label: 'Open Agents' },
  },
  beneficiary_frozen: {
    status: 403,
    sentence: 'Payments to this beneficiary are frozen.',
    fix: 'A member with `beneficiary.manage` unfreezes it with `PATCH /v1/beneficiaries/{id}` and `{"status": "active"}`.',
    person: 'An owner, administrator or member can unfreeze the beneficiary on its page.',
    page: { path: '/beneficiaries', label: 'Open the beneficiaries' },
  },
  membership_suspended: {
    status: 403,
    sentence: 'The membership in this workspace is suspended.',
    fix: 'An owner or administrator of the workspace makes the membership active again.',
    person: 'An owner or administrator of the workspace can reinstate you.',
  },
  account_frozen: {
    status: 403,
    sentence: 'The account is frozen.',
    fix: 'An administrator of the service froze this account: contact support.',
    person: 'Contact support. Payments that were already sent still arrive.',
  },
  capability_disabled: {
    status: 403,
    sentence: 'This capability is disabled for the account.',
    fix: 'An administrator of the service disabled this for the account: contact support.',
    details: '`capability`: which one.',
    person: 'Contact support to have it enabled.',
  },
  policy_denied: {
    status: 403,
    sentence: 'A spending rule refuses this payment; details.decision names it.',
    fix: 'Read `details.decision`: its `trace` names the rule that refused, its `remedy` the smallest change with which the payment would pass. Do not send the payment again unchanged.',
    details: '`decision`: the whole decision.',
    agent: 'change_request',
    person: 'Pay less, wait until the limit resets, or change the policy.',
    page: { path: '/policies', label: 'Open the policies' },
  },
  separation_of_duties: {
    status: 403,
    sentence: 'The initiator of a payment may not decide it.',
    fix: 'Another member must decide.',
    agent: 'ask_a_person',
    person: 'Someone else who can approve must decide this.',
  },
  csrf_rejected: {
    status: 403,
    sentence: 'The request came from another site.',
    fix: 'Send the request from this site or from an origin in `CORS_ORIGINS`, or use a bearer token instead of the cookie.',
    person: 'Reload the page and try again.',
  },
  not_found: {
    status: 404,
    sentence: 'There is no such resource.',
    fix: 'Check the path and the id. The answer for a resource of another tenant is the same as for one that does not exist.',
    details: '`field`: the field or header whose id does not exist.',
    agent: 'change_request',
    person: 'It may have been deleted, or you may not have access to it.',
  },
  method_not_allowed: {
    status: 405,
    sentence: 'This path does not support this method; the header Allow lists the methods that it supports.',
    fix: 'Use one of the methods in the header `Allow`.',
    agent: 'change_request',
    person: 'Reload the page and try again.',
  },
  conflict: {
    status: 409,
    sentence: 'The request conflicts with the current state.',
    fix: 'Read the resource again, then decide again. With the reason `idempotency` the key was used with another body: use a new key for a new request.',
    details: '`reason`: one of a closed list; more fields for some reasons.',
    agent: 'change_request',
    person: 'Reload to see the current state.',
  },
  last_identity: {
    status: 409,
    sentence: 'An account keeps at least one sign-in method.',
    fix: 'Link another sign-in method first.',
    person: 'Link another sign-in method first.',
    page: { path: '/account', label: 'Open the account' },
  },
  last_owner: {
    status: 409,
    sentence: 'A workspace keeps at least one owner, and its owning account.',
    fix: 'Make another member an owner first. The owning account always stays one.',
    person: 'Make someone else an owner first.',
    page: { path: '/workspace', label: 'See the members' },
  },
  payload_too_large: {
    status: 413,
    sentence: 'The request body is too large.',
    fix: 'Send at most 64 KiB. A batch of payments and a statement may have 1 MiB.',
    agent: 'change_request',
    person: 'Shorten what you entered and try again.',
  },
  unsupported_media_type: {
    status: 415,
    sentence: 'The request body must be application/json.',
    fix: 'Send `Content-Type: application/json`. The endpoints of OAuth accept `application/x-www-form-urlencoded`.',
    agent: 'change_request',
    person: 'Reload the page and try again.',
  },
  rate_limited: {
    status: 429,
    sentence: 'Too many requests.',
    fix: 'Wait for the seconds in `Retry-After`. `RateLimit-Remaining` says how many requests are left.',
    agent: 'wait',
    person: 'Wait a moment, then try again.',
  },
  internal_error: {
    status: 500,
    sentence: 'The service failed to process the request.',
    fix: 'Report `details.request_id`. Sending the request again with the same `Idempotency-Key` is safe.',
    details: '`request_id`: the id of the request in the logs.',
    person: 'Try again. If it keeps failing, give support the request ID.',
  },
  provider_error: {
    status: 502,
    sentence: 'The provider did not give a usable answer.',
    fix: 'Send the request again later, with the same `Idempotency-Key`.',
    agent: 'wait',
    person: 'Try again in a minute. If money may have moved, the status here will say so.',
  },
  provider_not_configured: {
    status: 503,
    sentence: 'This provider is not configured.',
    fix: 'This deployment does not have the provider: use another sign-in method, or another rail.',
    person: 'Use another sign-in method or payment method. This one is not set up.',
  },
  unavailable: {
    status: 503,
    sentence: 'The service cannot answer right now; try again.',
    fix: 'Send the request again after `Retry-After` seconds, with the same `Idempotency-Key`: it has at most one effect.',
    agent: 'wait',
    person: 'Try again in a few seconds.',
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof catalogue

export const errorCodes = Object.keys(catalogue) as ErrorCode[]

export const errorRow = (code: ErrorCode): ErrorRow => catalogue[code]

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(catalogue, text)
