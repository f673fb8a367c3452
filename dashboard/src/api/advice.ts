import { ApiError } from './error.ts'

const retry = 'Try again. If it keeps failing, contact support.'
/** With the button beside it that copies the ID. */
const retryWithId = 'Try again. If it keeps failing, give support the request ID.'

const advice: Readonly<Record<string, string>> = {
  unreachable: 'Check your connection, then try again. Nothing is sent twice.',
  invalid_request: 'Correct the marked fields and try again.',
  authentication_required: 'Sign in to continue.',
  invalid_token: 'Sign in again to continue.',
  session_revoked: 'Sign in again to continue.',
  token_expired: 'Sign in again to continue.',
  invalid_signature: 'Sign again with a wallet that is linked to the account.',
  insufficient_funds: 'Top up the account or pay a smaller amount.',
  forbidden: 'Ask an owner or administrator of the workspace for a role that allows it.',
  admin_required: 'Sign in with the account of an administrator of this service.',
  workspace_frozen: 'An owner or administrator can unfreeze it on the workspace page.',
  grant_frozen: 'Unfreeze it under Developers.',
  beneficiary_frozen: 'Unfreeze the beneficiary on its page.',
  membership_suspended: 'An owner or administrator of the workspace can reinstate you.',
  account_frozen: 'Contact support. Payments already sent still arrive.',
  capability_disabled: 'Contact support to have it enabled.',
  policy_denied: 'Pay less, wait until the limit resets, or change the policy.',
  separation_of_duties: 'Someone else who can approve has to decide this.',
  csrf_rejected: 'Reload the page and try again.',
  not_found: 'It may have been deleted, or you may not have access to it.',
  conflict: 'Reload to see the current state.',
  last_identity: 'Link another sign-in method first.',
  last_owner: 'Make someone else an owner first.',
  rate_limited: 'Wait a moment, then try again.',
  provider_error: 'Try again in a minute. If money may have moved, the status here will say so.',
  provider_not_configured: 'Use another sign-in method. This one is not set up.',
  unavailable: 'Try again in a few seconds.',
}

/** What a person can do about it. */
export const adviceFor = (error: unknown): string => {
  if (error instanceof ApiError) return advice[error.code] ?? (error.requestId ? retryWithId : retry)
  return 'Reload the page and try again.'
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'Something went wrong.')
