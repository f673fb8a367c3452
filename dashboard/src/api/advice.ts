import { ApiError } from './error.ts'

const advice: Readonly<Record<string, string>> = {
  unreachable: 'Check your connection. Nothing was lost: the same attempt can be made again.',
  invalid_request: 'Correct what is marked and try again.',
  authentication_required: 'Sign in to go on.',
  invalid_token: 'Sign in again to go on.',
  session_revoked: 'Sign in again to go on.',
  token_expired: 'Sign in again to go on.',
  invalid_signature: 'Sign again with the wallet that is linked to the account.',
  insufficient_funds: 'Top up the account or pay a smaller amount.',
  forbidden: 'Ask an owner or an administrator of the workspace for a role that allows it.',
  workspace_frozen: 'An owner or an administrator can unfreeze it on the workspace page.',
  grant_frozen: 'Unfreeze it under Developers.',
  beneficiary_frozen: 'Allow payments to it again on the beneficiary’s page.',
  membership_suspended: 'An owner or an administrator of the workspace can reinstate you.',
  account_frozen: 'Contact support; money that is under way still arrives.',
  capability_disabled: 'Contact support to have it enabled.',
  policy_denied: 'Pay less, wait until the limit resets, or change the policy.',
  separation_of_duties: 'Somebody else who may approve has to decide this.',
  csrf_rejected: 'Reload the page and try again.',
  not_found: 'It may be in another workspace: switch, or go back to the list.',
  conflict: 'Reload to see how things stand now.',
  last_identity: 'Link another way to sign in first.',
  last_owner: 'Make somebody else an owner first.',
  rate_limited: 'Wait a moment, then try again.',
  internal_error: 'Try again; if it stays, tell support the request id.',
  provider_error: 'Try again in a minute. If money may have moved, the status here will say so.',
  provider_not_configured: 'Use another way to sign in; the operator has not set this one up.',
  unavailable: 'Try again in a few seconds.',
}

/** What a person can do about it. */
export const adviceFor = (error: unknown): string => {
  if (error instanceof ApiError) return advice[error.code] ?? 'Try again; if it stays, tell support the request id.'
  return 'Reload the page and try again.'
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'Something went wrong.')
