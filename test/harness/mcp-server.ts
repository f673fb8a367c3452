import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Client, Json } from './client.ts'
import { type OAuthClient, postForm } from './oauth.ts'

export type ProtectedMcpServer = { url: URL; close: () => Promise<void> }

const tools = { whoami: 'account.read', pay: 'payment.create' } as const

const bodyOf = async (request: IncomingMessage): Promise<Json> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  return text === '' ? undefined : JSON.parse(text)
}

/**
 * Another party's MCP server that trusts our authorization server: it introspects every token, accepts only tokens for itself, and requires
 * a scope for each tool. It knows only what any resource server knows.
 */
export const startProtectedMcpServer = async (issuer: Client, client: OAuthClient): Promise<ProtectedMcpServer> => {
  const state = { url: '' }
  const metadata = () => `${new URL(state.url).origin}/.well-known/oauth-protected-resource/mcp`
  const refuse = (response: ServerResponse, status: number, more: string) =>
    response.writeHead(status, { 'www-authenticate': `Bearer resource_metadata="${metadata()}"${more}` }).end()

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    if (request.url?.startsWith('/.well-known/oauth-protected-resource')) {
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ resource: state.url, authorization_servers: [issuer.url] }))
    }
    if (request.url !== '/mcp') return response.writeHead(404).end()
    const token = request.headers.authorization?.slice('Bearer '.length)
    if (token === undefined) return refuse(response, 401, ', scope="account.read"')
    const { body: known } = await postForm(issuer, '/v1/oauth/introspect', { token, ...client.credentials })
    if (!known.active || known.aud !== state.url) return refuse(response, 401, ', error="invalid_token", scope="account.read"')
    const body = await bodyOf(request)
    const tool = body?.method === 'tools/call' ? tools[body.params.name as keyof typeof tools] : undefined
    if (tool && !known.scope.split(' ').includes(tool))
      return refuse(response, 403, `, error="insufficient_scope", scope="${tool} ${known.scope}"`)
    const server = new McpServer({ name: 'protected', version: '1.0.0' })
    for (const name of Object.keys(tools))
      server.registerTool(name, {}, async () => ({ content: [{ type: 'text' as const, text: `${name} for ${known.sub}` }] }))
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    response.on('close', () => void transport.close())
    await server.connect(transport as Parameters<typeof server.connect>[0])
    return transport.handleRequest(request, response, body)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  return {
    url: new URL(state.url),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
