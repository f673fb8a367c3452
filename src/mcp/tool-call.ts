import { z } from 'zod'
import type { Exchange } from './exchange.ts'
import { createKeptAnswers, type KnownAnswer } from './kept-answers.ts'
import { runTool, type Said } from './run-tool.ts'
import type { Tool } from './tool.ts'
import { tools } from './tools.ts'

const Call = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(100), z.int()]),
  method: z.literal('tools/call'),
  params: z.strictObject({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    _meta: z.record(z.string(), z.unknown()).optional(),
  }),
})

export type ToolCallOptions = {
  /** Answers as the protocol's own code does, with what the tool is said to have come to. */
  answer: (exchange: Exchange, said: () => Promise<Said>, checked: boolean) => Promise<Response>
  /** Whether the client may be asked for something in the middle of the call. */
  mayAsk: (tool: Tool, meta: unknown) => boolean
}

/** Clients of some kinds call each of the tools, and two answers are kept of each. */
const mostWays = 1_024

/**
 * Calls of tools that do not wait. The protocol's own code answers each way of calling once, with marks in the place of the id and of what a
 * tool says, and later calls get that text with their own. So a call costs what its tool does, and not the server that the protocol's code makes
 * for each request. What is unusual (a bug, a result that the tool's schema refuses) is answered by the protocol's own code, from the outcome
 * of the one run. Undefined for every other request.
 */
export const createToolCalls = ({ answer, mayAsk }: ToolCallOptions) => {
  const kept = createKeptAnswers({ most: mostWays, after: 1 })

  return async (exchange: Exchange): Promise<KnownAnswer | Response | undefined> => {
    const asked = Call.safeParse(exchange.body)
    if (!asked.success) return undefined
    const call = asked.data
    const { name, arguments: input = {}, _meta } = call.params
    const tool = tools.find((one) => one.name === name)
    if (!tool || tool.waits || mayAsk(tool, _meta)) return undefined

    const way = JSON.stringify([exchange.how, name, _meta])
    const markedWith = (id: string, said: Said) => answer({ ...exchange, body: { ...call, id } }, async () => said, false)
    const [result, refusal] = await Promise.all([
      kept(`${way} result`, ['id', 'text', 'structured'], ({ id, ...said }) => markedWith(id, said)),
      kept(`${way} refusal`, ['id', 'text'], ({ id, text }) => markedWith(id, { text })),
    ])
    if (!result || !refusal) return undefined

    const run = runTool(tool, input, exchange.callerOf(tool, exchange.aborted))
    const said = await run.catch(() => undefined)
    if (!said || (said.structured && !tool.output.safeParse(said.structured).success)) return answer(exchange, () => run, true)
    const values = { id: JSON.stringify(call.id), text: JSON.stringify(said.text) }
    return said.structured ? result({ ...values, structured: said.text }) : refusal(values)
  }
}
