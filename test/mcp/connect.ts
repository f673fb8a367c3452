import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Json } from '../harness/client.ts'
import type { McpProvider } from '../harness/mcp-provider.ts'

export type Agent = {
  /** A tool's structured result, which its text must repeat. Throws the tool's refusal. */
  call: (tool: string, input?: object) => Promise<Json>
  raw: (tool: string, input?: object) => Promise<Json>
  tools: () => Promise<Json[]>
  instructions: () => string | undefined
  close: () => Promise<void>
}

export class ToolError extends Error {
  readonly envelope: Json
  constructor(envelope: Json) {
    super(envelope.message)
    this.envelope = envelope
  }
}

const resultOf = (result: Json): Json => {
  const text = result.content[0].text
  if (result.isError) throw new ToolError(text.startsWith('{') ? JSON.parse(text) : { message: text })
  if (JSON.stringify(JSON.parse(text)) !== JSON.stringify(result.structuredContent))
    throw new Error('the text says something else')
  return result.structuredContent
}

type Options = {
  bearer?: string
  headers?: Record<string, string>
  provider?: McpProvider
  capabilities?: Json
  onElicit?: (request: Json) => Json
}

const requestInit = ({ bearer, headers }: Options) => ({
  requestInit: { headers: { ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }), ...headers } },
})

const agentOf = (client: Client | OldClient): Agent => {
  const raw = (name: string, input: object = {}) => client.callTool({ name, arguments: { ...input } })
  return {
    raw,
    call: async (name, input) => resultOf(await raw(name, input)),
    tools: async () => (await client.listTools()).tools,
    instructions: () => client.getInstructions(),
    close: () => client.close(),
  }
}

/** The protocol's own current client. */
export const connectAgent = async (url: string, options: Options): Promise<Agent> => {
  const client = new Client(
    { name: 'agent', version: '1.0.0' },
    { capabilities: options.capabilities ?? {}, versionNegotiation: { mode: 'auto' } },
  )
  if (options.onElicit) client.setRequestHandler('elicitation/create', async (request: Json) => options.onElicit?.(request))
  const transport = () =>
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      ...requestInit(options),
      ...(options.provider && { authProvider: options.provider as never }),
    })
  const first = transport()
  try {
    await client.connect(first)
  } catch (error) {
    if (!options.provider) throw error
    await first.finishAuth(options.provider.takeAnswer())
    await client.connect(transport())
  }
  return agentOf(client)
}

/** A client of the previous year, which begins with a handshake. */
export const connectOldAgent = async (url: string, { bearer }: { bearer: string }): Promise<Agent> => {
  const client = new OldClient({ name: 'old agent', version: '1.0.0' })
  await client.connect(new OldTransport(new URL('/mcp', url), requestInit({ bearer })) as never)
  return agentOf(client)
}
