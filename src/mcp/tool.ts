import { z } from 'zod'
import { type AgentStep, errorRow, isErrorCode } from '../errors/catalogue.ts'
import type { InternalAnswer, InternalCall } from '../http/internal-call.ts'
import { fieldErrors, sentenceOf } from '../http/sentences.ts'
import { Refusal, refuseFields } from '../lib/errors.ts'

/** What a tool runs with: the routes of this service, called in the caller's name. */
export type Caller = {
  call: (call: InternalCall) => Promise<InternalAnswer>
  publicUrl: string
  currency: string
  now: () => Date
  signal: AbortSignal
}

/** The four hints of the protocol; they help a client decide what to ask its user about. */
export type Hints = { readOnly: boolean; destructive: boolean; idempotent: boolean; openWorld: boolean }

const Envelope = z.object({
  error: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).default({}),
})
export type Envelope = z.output<typeof Envelope>

/** A refusal by a route, or by a tool itself. */
export type Refused = { envelope: Envelope; retryAfterSeconds: number | undefined }

export type Tool = {
  name: string
  title: string
  description: string
  /** The operation whose permission the tool needs; null: any credential is accepted. */
  operation: string | null
  hints: Hints
  /** Such a call may take long: its answer is a stream, which is kept alive meanwhile. */
  waits?: (input: Readonly<Record<string, unknown>>) => boolean
  input: z.ZodObject
  output: z.ZodObject
  run: (input: unknown, caller: Caller) => Promise<object>
  /** The answer to a refusal in the tool's own shape; without it every tool has the same. `input` is as it came. */
  refused?: (refused: Refused, input: Readonly<Record<string, unknown>>, caller: Caller) => Promise<object>
}

type Typed<In extends z.ZodObject, Out extends z.ZodObject> = Omit<Tool, 'input' | 'output' | 'run' | 'refused'> & {
  input: In
  output: Out
  run: (input: z.output<In>, caller: Caller) => Promise<z.output<Out>>
  refused?: (refused: Refused, input: Readonly<Record<string, unknown>>, caller: Caller) => Promise<z.output<Out>>
}

/** The arguments are checked here and not by the protocol's own code, so that what is wrong with them is a refusal like any other. */
export const defineTool = <In extends z.ZodObject, Out extends z.ZodObject>(tool: Typed<In, Out>): Tool => ({
  ...tool,
  run: async (input, caller) => {
    const parsed = tool.input.safeParse(input, { error: sentenceOf })
    if (!parsed.success) throw refuseFields(fieldErrors(parsed.error.issues))
    return tool.run(parsed.data, caller)
  },
})

export const reads: Hints = { readOnly: true, destructive: false, idempotent: true, openWorld: false }

class ToolRefusal extends Error {
  readonly refused: Refused

  constructor({ body, retryAfterSeconds }: InternalAnswer) {
    const envelope = Envelope.parse(body)
    super(envelope.message)
    this.refused = { envelope, retryAfterSeconds }
  }
}

/** Undefined for a bug. */
export const refusedOf = (error: unknown): Refused | undefined => {
  if (error instanceof ToolRefusal) return error.refused
  if (!(error instanceof Refusal)) return undefined
  const { code, message, details = {} } = error
  return { envelope: { error: code, message, details }, retryAfterSeconds: undefined }
}

/** The body of a successful answer. */
export const answered = <Schema extends z.ZodType>(schema: Schema, answer: InternalAnswer): z.output<Schema> => {
  if (answer.status >= 400) throw new ToolRefusal(answer)
  return schema.parse(answer.body)
}

export const readRoute = async <Schema extends z.ZodType>(
  caller: Caller,
  schema: Schema,
  path: string,
  query?: InternalCall['query'],
): Promise<z.output<Schema>> => answered(schema, await caller.call({ method: 'GET', path, ...(query && { query }) }))

export const pageInput = {
  limit: z.int().min(1).max(100).default(25),
  cursor: z.string().optional().describe('next_cursor of the previous page.'),
}
export const nextCursor = z.string().nullable().describe('Present if there are more.')

export const readPage = <Item extends z.ZodType>(caller: Caller, item: Item, path: string, query: InternalCall['query']) =>
  readRoute(caller, z.object({ data: z.array(item), next_cursor: nextCursor }), path, query)

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

/** The page on which a person can solve the error of this code. */
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
