import { z } from 'zod'
import { errorRow, isErrorCode } from '../errors/catalogue.ts'
import type { AgentStep } from '../errors/row.ts'
import type { Caller, Envelope, Refused } from './tool.ts'

export const nextSteps = ['done', 'wait', 'ask_a_person', 'change_request', 'stop'] as const
export type Next = (typeof nextSteps)[number]

/** What every answer begins with: what to do next, and the sentence that says it. */
export const guide = { next: z.enum(nextSteps).describe('What to do next; message says it.'), message: z.string() }

const Fields = z.array(z.looseObject({ path: z.string(), message: z.string() }))

/** What an answer adds that is a refusal: the same of every tool. */
export const refusalFields = {
  address: z.string().optional().describe('Where a person does something about it.'),
  retry_after_seconds: z.int().optional(),
  refusal: z
    .object({
      code: z.string(),
      fields: Fields.optional().describe('What is wrong with the arguments.'),
      existing_payment_id: z.string().optional().describe('The payment that this one repeats.'),
      required_permission: z.string().optional(),
    })
    .optional(),
}
const RefusedAnswer = z.object({ status: z.literal('refused'), ...guide, ...refusalFields })
export type RefusedAnswer = z.output<typeof RefusedAnswer>

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

const Details = z.object({
  field: z.string().optional(),
  fields: Fields.optional().catch(undefined),
  existing_payment_id: z.string().optional(),
  required_permission: z.string().optional(),
})

/** Where a person does something about a code. */
const addressOf = ({ publicUrl }: Caller, code: string): string | undefined => {
  const page = isErrorCode(code) ? errorRow(code).page : undefined
  return page && publicUrl + page.path
}

/** A refusal as every tool answers it: what to do next, where a person does it, and what was wrong. */
export const refusedAnswer = (caller: Caller, { envelope, retryAfterSeconds }: Refused): RefusedAnswer => {
  const { error, message, details } = envelope
  const { field, fields, existing_payment_id, required_permission } = Details.parse(details)
  const next = stepOf(envelope)
  const ids = [...(fields?.map(({ path }) => path) ?? []), ...(field === undefined ? [] : [field])]
  const id = ids.find((path) => path.endsWith('_id') || path === 'id')
  const hint = id === undefined ? (error === 'not_found' ? anyId : undefined) : (findIds[id] ?? anyId)
  const again = next === 'wait' ? 'Send the same call again, with the same idempotency_key.' : undefined
  const address = next === 'ask_a_person' || error === 'insufficient_funds' ? addressOf(caller, error) : undefined
  return {
    status: 'refused',
    next,
    message: [message, hint, again].filter(Boolean).join(' '),
    ...(address !== undefined && { address }),
    ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
    refusal: {
      code: error,
      ...(fields && { fields }),
      ...(existing_payment_id !== undefined && { existing_payment_id }),
      ...(required_permission !== undefined && { required_permission }),
    },
  }
}
