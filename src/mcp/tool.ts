import { z } from 'zod'
import { fieldErrors } from '../http/field-errors.ts'
import type { InternalAnswer, InternalCall } from '../http/internal-call.ts'
import { sentenceOf } from '../http/sentences.ts'
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

export type Tool = {
  name: string
  title: string
  description: string
  /** The operation whose permission the tool needs; null: any credential is accepted. */
  operation: string | null
  hints: Hints
  /** It may take long: its answer is a stream, which is kept alive meanwhile. */
  waits?: true
  input: z.ZodObject
  output: z.ZodObject
  run: (input: unknown, caller: Caller) => Promise<object>
}

type Typed<In extends z.ZodObject, Out extends z.ZodObject> = Omit<Tool, 'input' | 'output' | 'run'> & {
  input: In
  output: Out
  run: (input: z.output<In>, caller: Caller) => Promise<z.output<Out>>
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

const Envelope = z.object({
  error: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).default({}),
})
export type Envelope = z.output<typeof Envelope>

/** The service refused a tool's call: the model gets this as the tool's result, with `isError`. */
export class ToolRefusal extends Error {
  readonly envelope: Envelope
  readonly retryAfterSeconds: number | undefined

  constructor(answer: InternalAnswer) {
    const envelope = Envelope.parse(answer.body)
    super(envelope.message)
    this.envelope = envelope
    this.retryAfterSeconds = answer.retryAfterSeconds
  }
}

/** What was refused by a route, or by a tool itself; undefined for a bug. */
export const toolRefusalOf = (error: unknown): Pick<ToolRefusal, 'envelope' | 'retryAfterSeconds'> | undefined => {
  if (error instanceof ToolRefusal) return error
  if (!(error instanceof Refusal)) return undefined
  const { code, message, details = {} } = error
  return { envelope: { error: code, message, details }, retryAfterSeconds: undefined }
}

/** The body of a successful answer. */
export const answered = <Schema extends z.ZodType>(schema: Schema, answer: InternalAnswer): z.output<Schema> => {
  if (answer.status >= 400) throw new ToolRefusal(answer)
  return schema.parse(answer.body)
}

export const pageInput = {
  limit: z.int().min(1).max(100).default(25),
  cursor: z.string().optional().describe('next_cursor of the previous page.'),
}
export const pageQuery = ({ limit, cursor }: { limit: number; cursor?: string | undefined }) => ({ limit: String(limit), cursor })
export const nextCursor = z.string().nullable().describe('Present if there are more.')
