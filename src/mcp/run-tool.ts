import { inSpan } from '../lib/tracing.ts'
import { guidedRefusal } from './next.ts'
import type { Caller, Tool } from './tool.ts'

/** What a call came to, for the client: as text, and a result also as an object. Without one it is a refusal. */
export type Said = { text: string; structured?: object }

/** Throws only what is a bug. */
export const runTool = async (tool: Tool, input: unknown, caller: Caller): Promise<Said> => {
  const attributes = { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': tool.name }
  try {
    const structured = await inSpan(`tools/call ${tool.name}`, attributes, () => tool.run(input, caller))
    return { text: JSON.stringify(structured), structured }
  } catch (error) {
    const refusal = guidedRefusal(caller, error)
    if (!refusal) throw error
    return { text: JSON.stringify(refusal) }
  }
}
