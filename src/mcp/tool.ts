import { z } from 'zod'
import type { InternalAnswer, InternalCall } from '../http/internal-call.ts'

/** What a tool is run with: the routes of this service, in the name of the caller. */
export type Caller = {
  call: (call: InternalCall) => Promise<InternalAnswer>
  publicUrl: string
  currency: string
  now: () => Date
  signal: AbortSignal
}

/** The four hints of the protocol; a client decides by them what to ask its user about. */
export type Hints = { readOnly: boolean; destructive: boolean; idempotent: boolean; openWorld: boolean }

export type Tool = {
  name: string
  title: string
  description: string
  /** The operation whose permission the tool needs; null: any credential will do. */
  operation: string | null
  hints: Hints
  input: z.ZodObject
  output: z.ZodObject
  run: (input: unknown, caller: Caller) => Promise<object>
}

type Typed<In extends z.ZodObject, Out extends z.ZodObject> = Omit<Tool, 'input' | 'output' | 'run'> & {
  input: In
  output: Out
  run: (input: z.output<In>, caller: Caller) => Promise<z.output<Out>>
}

/** The arguments are parsed once more on the way in, so that a tool sees what it declared, for every caller. */
export const defineTool = <In extends z.ZodObject, Out extends z.ZodObject>(tool: Typed<In, Out>): Tool => ({
  ...tool,
  run: (input, caller) => tool.run(tool.input.parse(input), caller),
})

export const reads: Hints = { readOnly: true, destructive: false, idempotent: true, openWorld: false }

const Envelope = z.object({
  error: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).default({}),
})
export type Envelope = z.output<typeof Envelope>

/** The service refused what a tool asked for: given to the model as the result of the tool, with `isError`. */
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

/** The body of an answer that did what was asked. */
export const answered = <Schema extends z.ZodType>(schema: Schema, answer: InternalAnswer): z.output<Schema> => {
  if (answer.status >= 400) throw new ToolRefusal(answer)
  return schema.parse(answer.body)
}

export const pageInput = {
  limit: z.int().min(1).max(100).default(25),
  cursor: z.string().optional().describe('next_cursor of the page before.'),
}
export const pageQuery = ({ limit, cursor }: { limit: number; cursor?: string | undefined }) => ({ limit: String(limit), cursor })
export const nextCursor = z.string().nullable().describe('Given where there is more.')
