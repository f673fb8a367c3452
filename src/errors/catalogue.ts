import english from '../../texts/errors.en.json' with { type: 'json' }

/** An agent's next step. `new_credential`: the MCP tool returns the error itself, so that a client can ask its user. */
export type AgentStep = 'change_request' | 'wait' | 'ask_a_person' | 'stop' | 'new_credential'

/** HTTP status and an agent's next step. Default: `stop`. Only after `wait` can the same request succeed. */
type Row = readonly [status: number, agent?: AgentStep]

/** All error codes, for the error envelope, the API document, the reference and MCP. `advice.ts` has the texts for people. */
const catalogue = {
  invalid_request: [400, 'change_request'],
  invalid_cursor: [400, 'change_request'],
  authentication_required: [401, 'new_credential'],
  invalid_token: [401, 'new_credential'],
  token_expired: [401, 'new_credential'],
  api_key_revoked: [401, 'new_credential'],
  api_key_expired: [401, 'new_credential'],
  session_revoked: [401, 'new_credential'],
  invalid_signature: [401, 'change_request'],
  insufficient_funds: [402, 'ask_a_person'],
  forbidden: [403, 'new_credential'],
  admin_required: [403],
  step_up_required: [403],
  workspace_frozen: [403],
  grant_frozen: [403],
  beneficiary_frozen: [403],
  membership_suspended: [403],
  account_frozen: [403],
  capability_disabled: [403],
  policy_denied: [403, 'change_request'],
  separation_of_duties: [403, 'ask_a_person'],
  csrf_rejected: [403],
  not_found: [404, 'change_request'],
  method_not_allowed: [405, 'change_request'],
  conflict: [409, 'change_request'],
  last_identity: [409],
  last_owner: [409],
  payload_too_large: [413, 'change_request'],
  unsupported_media_type: [415, 'change_request'],
  rate_limited: [429, 'wait'],
  internal_error: [500],
  provider_error: [502, 'wait'],
  provider_not_configured: [503],
  unavailable: [503, 'wait'],
} as const satisfies Record<keyof typeof english, Row>

export type ErrorCode = keyof typeof catalogue

type Texts = {
  sentence: string
  /** How the caller can fix the error, with code in backticks. */
  fix: string
  details?: string
}
const texts: Readonly<Record<ErrorCode, Texts>> = english

export const errorCodes = Object.keys(catalogue) as ErrorCode[]

export const errorRow = (code: ErrorCode) => {
  const [status, agent]: Row = catalogue[code]
  return { status, agent, ...texts[code] }
}

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(catalogue, text)
