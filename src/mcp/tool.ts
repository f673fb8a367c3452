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

export const pageInput = {
  limit: z.int().min(1).max(100).default(25),
  cursor: z.string().optional().describe('next_cursor of the previous page.'),
}
export const pageQuery = ({ limit, cursor }: { limit: number; cursor?: string | undefined }) => ({ limit: String(limit), cursor })
export const nextCursor = z.string().nullable().describe('Present if there are more.')
