import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { adviceOf } from '../errors/advice.ts'
import { type ErrorCode, errorRow, isErrorCode } from '../errors/catalogue.ts'
import type { InternalAnswer, InternalCall } from '../http/internal-call.ts'
import { fieldErrors, sentences } from '../http/sentences.ts'
import { Existing as ApiExisting } from '../lib/error-details.ts'
import { Refusal, refuseFields } from '../lib/errors.ts'

export type Caller = {
  call: (call: InternalCall) => Promise<InternalAnswer>
  publicUrl: string
  currency: string
  now: () => Date
  signal: AbortSignal
  /** Logs a bug. Returns the request id, by which the log entry is found. */
  logBug: (error: unknown) => string
}

/** The protocol's four hints, which help a client decide when to ask its user. */
export const readHints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

export type Tool<In extends z.ZodObject = z.ZodObject, Out extends z.ZodObject = z.ZodObject> = {
  name: string
  title: string
  description: string
  /** The operation whose permission the tool requires. Null: any credential is accepted. */
  operation: string | null
  hints: typeof readHints
  input: In
  output: Out
  run(input: z.output<In>, caller: Caller): Promise<z.output<Out>>
  /** Converts a refusal to the tool's own output. Default: the same output for all tools. `input`: the unparsed arguments. */
  refused?: (refusal: Refusal, input: Arguments, caller: Caller) => Promise<z.output<Out>>
}

/** Treats null and an empty text as absent in optional fields, because some clients cannot omit an optional argument. */
const withoutEmpty = (schema: z.core.$ZodType, value: unknown): unknown => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return withoutEmpty(schema.def.innerType, value)
  if (schema instanceof z.ZodArray && Array.isArray(value)) return value.map((item) => withoutEmpty(schema.element, item))
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { shape } = schema
  const isOptional = (name: string) => !Object.hasOwn(shape, name) || z.safeParse(shape[name] as z.ZodType, undefined).success
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const isEmpty = one === null || (typeof one === 'string' && one.trim() === '')
      if (isEmpty && isOptional(name)) return []
      return [[name, shape[name] ? withoutEmpty(shape[name], one) : one]]
    }),
  )
}

export type Arguments = Readonly<Record<string, unknown>>
export const argumentsFor = ({ input }: Tool, given: unknown): Arguments => (withoutEmpty(input, given ?? {}) ?? {}) as Arguments

/** Whether a call may take long. Its response is a stream, which is kept alive. */
export const mayWait = (input: Arguments): boolean => input.wait_seconds !== undefined && input.wait_seconds !== 0

export const waitInput = {
  wait_seconds: z.int().min(0).max(50).default(0).describe('Seconds to wait for the end.'),
}

const firstPauseMs = 250
const longestPauseMs = 2_000

/** Reads a record repeatedly until it has ended, the time is up, or the caller may no longer read it. */
export const waitForEnd = async <Read>(
  { signal }: Caller,
  seconds: number,
  { first, isOpen, again }: { first: Read; isOpen: (one: Read) => boolean; again: () => Promise<Read | undefined> },
): Promise<Read> => {
  let one = first
  let left = seconds * 1000
  for (let ms = firstPauseMs; isOpen(one) && left > 0; ms = Math.min(longestPauseMs, ms * 2)) {
    const turn = Math.min(ms, left)
    await pause(turn, undefined, { signal })
    left -= turn
    const next = await again()
    if (next === undefined) break
    one = next
  }
  return one
}

/** Validates arguments here instead of in the protocol library, so that invalid arguments are refusals like any other. */
export const defineTool = <In extends z.ZodObject, Out extends z.ZodObject>(tool: Tool<In, Out>): Tool => ({
  ...tool,
  run: async (input, caller) => {
    const parsed = tool.input.safeParse(input, { error: sentences() })
    if (!parsed.success) throw refuseFields(fieldErrors(parsed.error.issues))
    return tool.output.parse(await tool.run(parsed.data, caller))
  },
})

const Envelope = z.object({
  error: z.custom<ErrorCode>((code) => isErrorCode(String(code))),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).default({}),
})

/** The body of a successful response. A refusal by a route is thrown. */
export const parseAnswer = <Schema extends z.ZodType>(schema: Schema, answer: InternalAnswer): z.output<Schema> => {
  const { status, body, retryAfterSeconds } = answer
  if (status < 400) return schema.parse(body)
  const { error, message, details } = Envelope.parse(body)
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  throw new Refusal(error, { message, details, headers })
}

export const readRoute = async <Schema extends z.ZodType>(
  caller: Caller,
  schema: Schema,
  path: string,
  query?: InternalCall['query'],
): Promise<z.output<Schema>> => parseAnswer(schema, await caller.call({ method: 'GET', path, ...(query && { query }) }))

/**
 * Creates a record. A replayed response shows the record as it was then, so `first` is a later reading. `again` reads it once
 * more. Undefined if the caller may not read it, or no longer: the answer is then the record as made, because it was made.
 */
export const createRecord = async <Made extends { id: string }>(
  { call }: Caller,
  schema: z.ZodType<Made>,
  { readAt, ...request }: { path: string; readAt?: string; body: object; idempotencyKey: string },
): Promise<{ made: Made; first: Made; again: () => Promise<Made | undefined> }> => {
  const answer = await call({ method: 'POST', ...request })
  const made = parseAnswer(schema, answer)
  const again = async () => {
    const { status, body } = await call({ method: 'GET', path: `${readAt ?? request.path}/${made.id}` })
    if (status === 401 || status === 403) return undefined
    return status === 200 ? schema.parse(body) : made
  }
  return { made, first: (answer.replayed ? await again() : undefined) ?? made, again }
}

/** Whether a record was created with this key. */
export const isKeyUsed = async ({ call }: Caller, path: string, idempotency_key: string): Promise<boolean> => {
  const { status, body } = await call({ method: 'GET', path, query: { idempotency_key, limit: '1' } })
  return status === 200 && z.object({ data: z.array(z.unknown()) }).parse(body).data.length > 0
}

/** Fields without the API document's descriptions, to shorten the list of tools that every model reads. */
export const pick = <Shape extends z.core.$ZodLooseShape, const Name extends keyof Shape & string>(
  { shape }: z.ZodObject<Shape>,
  ...names: readonly Name[]
): z.ZodObject<Pick<Shape, Name>> => {
  const fields = names.map((name) => [name, z.clone(shape[name] as z.ZodType, (shape[name] as z.ZodType).def)])
  return z.object(Object.fromEntries(fields) as Pick<Shape, Name>)
}

export const pageInput = {
  limit: z.int().min(1).max(100).default(25),
  cursor: z.string().optional().describe('next_cursor of the previous page.'),
}
export const nextCursor = z.string().nullable().describe('Present if there are more.')

export const readPage = <Item extends z.ZodType>(caller: Caller, item: Item, path: string, query: InternalCall['query']) =>
  readRoute(caller, z.object({ data: z.array(item), next_cursor: nextCursor }), path, query)

export const nextSteps = ['done', 'wait', 'ask_a_person', 'change_request', 'stop'] as const
export type Next = (typeof nextSteps)[number]

export const guide = { next: z.enum(nextSteps).describe('The next step; see message.'), message: z.string() }

const Fields = z.array(z.looseObject({ path: z.string(), message: z.string() }))

const Existing = pick(ApiExisting, 'payment_id', 'topup_id', 'beneficiary_id', 'status').extend({
  batch_id: z.string().optional(),
  receipt: z.string().nullable(),
})
export type Existing = z.output<typeof Existing>

export const refusalFields = {
  existing: Existing.optional().describe('The existing record, in its current state.'),
  address: z.string().optional().describe('The page where a person can act on it.'),
  retry_after_seconds: z.int().optional(),
  refusal: z
    .object({
      code: z.string(),
      fields: Fields.optional().describe('Problems by argument.'),
      existing_payment_id: z.string().optional().describe('The payment that this one repeats.'),
      required_permission: z.string().optional(),
    })
    .optional(),
}
const RefusedAnswer = z.object({ status: z.literal('refused'), ...guide, ...refusalFields })
export type RefusedAnswer = z.output<typeof RefusedAnswer>

const idHints: Readonly<Record<string, string>> = {
  beneficiary_id: 'Find the ID with list_beneficiaries, or propose a new beneficiary with propose_beneficiary.',
  mandate_id: 'Find the ID with list_mandates, or omit mandate_id.',
}
const anyIdHint = 'Take IDs from the answers of these tools. Never invent an ID, and never use a name or a phone number.'

/** A conflict stops the agent, because no change to the request can resolve it. */
export const stepOf = (code: ErrorCode): Next => {
  if (code === 'conflict') return 'stop'
  const step = errorRow(code).agent ?? 'stop'
  return step === 'new_credential' ? 'ask_a_person' : step
}

/** Formats a status: `succeeded at 2026-11-22T…`, `processing since 2026-11-22T…`. */
export const statusText = (one: Pick<ApiExisting, 'status' | 'created_at' | 'completed_at'>): string =>
  one.completed_at ? `${one.status} at ${one.completed_at}` : `${one.status} since ${one.created_at}`

export const isKeyConflict = ({ details }: Refusal): boolean => details?.reason === 'idempotency'
/** Whether another key or agent has already sent the same request. */
export const isOthersKey = (refusal: Refusal): boolean => isKeyConflict(refusal) && /another credential/.test(refusal.message)

const stepAfterStatus = (status: string): Next => {
  if (['succeeded', 'completed', 'active'].includes(status)) return 'done'
  if (['pending', 'processing', 'scheduled', 'unknown'].includes(status)) return 'wait'
  return status === 'pending_approval' ? 'ask_a_person' : 'stop'
}

const existingRecord = ({ details }: Refusal): { existing: Existing; text: string } | undefined => {
  const { data } = ApiExisting.safeParse(details?.existing)
  if (!data) return undefined
  const { payment_id, payment_batch_id: batch_id, topup_id, beneficiary_id, status, receipt = null } = data
  const existing = { payment_id, batch_id, topup_id, beneficiary_id, status, receipt }
  return { existing, text: `${payment_id ?? batch_id ?? topup_id ?? beneficiary_id}, ${statusText(data)}` }
}

const Details = z.object({
  field: z.string().optional(),
  fields: Fields.optional().catch(undefined),
  existing_payment_id: z.string().optional(),
  required_permission: z.string().optional(),
})

export const refusedAnswer = ({ publicUrl }: Caller, refusal: Refusal): RefusedAnswer => {
  const { code, message } = refusal
  const { field, fields, existing_payment_id, required_permission } = Details.parse(refusal.details ?? {})
  const retryAfter = refusal.headers?.['retry-after']
  const known = existingRecord(refusal)
  const isOwnKey = isKeyConflict(refusal) && !isOthersKey(refusal)
  const earlier = isOthersKey(refusal) ? known : undefined
  const next = isOwnKey ? 'change_request' : earlier ? stepAfterStatus(earlier.existing.status) : stepOf(code)
  const ids = [...(fields?.map(({ path }) => path) ?? []), ...(field === undefined ? [] : [field])]
  const id = ids.find((path) => path.endsWith('_id') || path === 'id')
  const hint = id === undefined ? (code === 'not_found' ? anyIdHint : undefined) : (idHints[id] ?? anyIdHint)
  const retry = next === 'wait' && !earlier ? 'Send the same call again, with the same idempotency_key.' : undefined
  // The key or agent lacks the permission, whatever its person's role.
  const agentsPage = required_permission === undefined ? undefined : '/agents'
  const page = next === 'ask_a_person' || code === 'insufficient_funds' ? (agentsPage ?? adviceOf(code)?.page?.path) : undefined
  return {
    status: 'refused',
    next,
    message: [
      earlier ? `Already there: ${earlier.text}. No second one was made.` : /[.!?]$/.test(message) ? message : `${message}.`,
      known && isOwnKey && `It belongs to ${known.text}.`,
      isOwnKey && 'This call did nothing: send exactly the earlier arguments, or use a new idempotency_key for something else.',
      hint,
      retry,
    ]
      .filter(Boolean)
      .join(' '),
    ...(known && { existing: known.existing }),
    address: page && publicUrl + page,
    retry_after_seconds: retryAfter === undefined ? undefined : Number(retryAfter),
    refusal: { code, fields, existing_payment_id, required_permission },
  }
}
