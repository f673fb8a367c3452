/**
 * What an agent does after a refusal. `new_credential`: only another credential helps, so the tool answers with the error itself and a client
 * can ask its user for one. The others are the `next` of a payment's outcome.
 */
export type AgentStep = 'change_request' | 'wait' | 'ask_a_person' | 'stop' | 'new_credential'

export type ErrorRow = {
  status: number
  /** The default message. */
  sentence: string
  /** What a caller does about it. Code in backticks. */
  fix: string
  /** Which fields of `details` help with it. */
  details?: string
  agent: AgentStep
  /** What a person does about it on a page, and the page of the dashboard where they do it. */
  person: string
  page?: { path: string; label: string }
  /** The same request may pass later without a change. */
  passes?: true
}
