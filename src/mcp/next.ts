import { z } from 'zod'
import { errorRow, isErrorCode } from '../errors/catalogue.ts'
import type { AgentStep } from '../errors/row.ts'
import { type Caller, type Envelope, toolRefusalOf } from './tool.ts'

export const nextSteps = ['done', 'wait', 'ask_a_person', 'change_request', 'stop'] as const
export type Next = (typeof nextSteps)[number]

/** What every answer begins with: what to do next, and the sentence that says it. */
export const guide = {
  next: z.enum(nextSteps).describe('What to do next; message says it in a sentence.'),
  message: z.string(),
}

/** A code of a later version of the service ends the attempt. */
export const agentStep = (code: string): AgentStep => (isErrorCode(code) ? errorRow(code).agent : 'stop')

const findIds: Readonly<Record<string, string>> = {
  beneficiary_id: 'Find the id with list_beneficiaries, or propose a new payee with propose_beneficiary.',
  mandate_id: 'Find the id with list_mandates, or leave mandate_id out.',
}
const anyId = 'Take ids from answers of these tools: they are never made up, and never a name or a phone number.'

/** A key that was used for something else, a payment that has ended: no change of the request makes it right. */
const stepOf = ({ error }: Envelope): Next => {
  if (error === 'conflict') return 'stop'
  const step = agentStep(error)
  return step === 'new_credential' ? 'ask_a_person' : step
}

const fieldsOf = ({ details }: Envelope): string[] => {
  const { field, fields } = details
  const named = Array.isArray(fields) ? fields.map((one: { path?: unknown }) => one.path) : [field]
  return named.filter((path) => typeof path === 'string')
}

const hintOf = (envelope: Envelope): string | undefined => {
  const [id] = fieldsOf(envelope).filter((path) => path.endsWith('_id') || path === 'id')
  if (id !== undefined) return findIds[id] ?? anyId
  return envelope.error === 'not_found' ? anyId : undefined
}

/** Where a person does something about it. */
export const addressOf = ({ publicUrl }: Caller, code: string): string | undefined => {
  const page = isErrorCode(code) ? errorRow(code).page : undefined
  return page && publicUrl + page.path
}

/** What a refusal says, with what to do next, and where a person does it. */
export const guided = (caller: Caller, envelope: Envelope): Envelope & { next: Next; address?: string } => {
  const next = stepOf(envelope)
  const address =
    next === 'ask_a_person' || envelope.error === 'insufficient_funds' ? addressOf(caller, envelope.error) : undefined
  return {
    ...envelope,
    message: [envelope.message, hintOf(envelope)].filter(Boolean).join(' '),
    next,
    ...(address !== undefined && { address }),
  }
}

/** A refusal in the form in which every tool answers with it; a bug stays what it is. */
export const guidedRefusal = (caller: Caller, error: unknown) => {
  const refusal = toolRefusalOf(error)
  return refusal && guided(caller, refusal.envelope)
}
