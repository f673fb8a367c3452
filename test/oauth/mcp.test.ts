import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { type McpProvider, newMcpProvider } from '../harness/mcp-provider.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

// Each connection of these clients refreshes by itself, some after others have the answer. They need the leeway that the strict
// default lacks, long enough for a machine that stands still.
const service = await openService({ env: { OAUTH_REFRESH_LEEWAY_SECONDS: '60' } })
const person = await signIn(service.api)
const mcpUrl = new URL('/mcp', service.api.url)
const newProvider = (decision?: Json) => newMcpProvider(service.api, person, decision)
type Provider = McpProvider

type Connection = { call: (tool: string) => Promise<string>; finish: () => Promise<void>; close: () => Promise<void> }
type Connect = { first: (provider: Provider) => Promise<Connection>; again: (provider: Provider) => Promise<Connection> }

const textOf = (result: Json): string => result.content[0].text

const startOld = (provider: Provider) => ({
  transport: new OldTransport(mcpUrl, { authProvider: provider as never }),
  client: new OldClient({ name: 'test', version: '1.0.0' }),
})
const old: Connect = {
  first: async (provider) => {
    const { transport, client } = startOld(provider)
    await expect(client.connect(transport as never)).rejects.toThrow()
    await transport.finishAuth(provider.takeAnswer().get('code') ?? '')
    return old.again(provider)
  },
  again: async (provider) => {
    const { transport, client } = startOld(provider)
    await client.connect(transport as never)
    return {
      call: async (tool) => textOf(await client.callTool({ name: tool, arguments: {} })),
      finish: () => transport.finishAuth(provider.takeAnswer().get('code') ?? ''),
      close: () => client.close(),
    }
  },
}

const startRecent = (provider: Provider) => ({
  transport: new NewTransport(mcpUrl, { authProvider: provider as never }),
  client: new NewClient({ name: 'test', version: '1.0.0' }),
})
const recent: Connect = {
  first: async (provider) => {
    const { transport, client } = startRecent(provider)
    await expect(client.connect(transport)).rejects.toThrow()
    await transport.finishAuth(provider.takeAnswer())
    return recent.again(provider)
  },
  again: async (provider) => {
    const { transport, client } = startRecent(provider)
    await client.connect(transport)
    return {
      call: async (tool) => textOf(await client.callTool({ name: tool, arguments: {} })),
      finish: () => transport.finishAuth(provider.takeAnswer()),
      close: () => client.close(),
    }
  },
}

describe.each<[string, Connect]>([
  ['@modelcontextprotocol/sdk', old],
  ['@modelcontextprotocol/client', recent],
])('%s', (_name, connect) => {
  test('gets from a 401 to metadata, registration, consent and tokens for that server alone', async () => {
    const provider = newProvider()
    const connection = await connect.first(provider)
    expect(await connection.call('get_balance')).toContain('available_minor')
    const [authorizationUrl] = provider.kept.authorizations
    expect(authorizationUrl?.searchParams.get('resource')).toBe(mcpUrl.href)
    expect(authorizationUrl?.searchParams.get('scope')).toContain('account.read')
    expect(authorizationUrl?.searchParams.get('code_challenge_method')).toBe('S256')
    expect(provider.kept.client.client_id).toMatch(/^oac_/)
    expect((await service.api.get('/v1/accounts/me', { bearer: provider.kept.tokens.access_token })).status).toBe(401)
    await connection.close()
  })

  // One connection each, because the older client gives up when two calls of one connection are refused at once. Their reads,
  // refreshes and writes may interleave, so one may present a token that others have rotated twice.
  test('refreshes when its token expires, with several connections at once, and without another consent', async () => {
    const provider = newProvider()
    const connections = [await connect.first(provider)]
    while (connections.length < 4) connections.push(await connect.again(provider))
    const before = provider.kept.tokens
    service.clock.advance(3600)
    const answers = await Promise.all(connections.map((connection) => connection.call('get_balance')))
    for (const answer of answers) expect(answer).toContain('available_minor')
    expect(provider.kept.tokens.access_token).not.toBe(before.access_token)
    for (const connection of connections) expect(await connection.call('get_balance')).toContain('available_minor')
    expect(provider.kept.authorizations).toHaveLength(1)
    await Promise.all(connections.map((connection) => connection.close()))
  })

  test('requests a further scope when a tool needs it, and keeps its other scopes', async () => {
    const decision: Json = { decision: 'approve', permissions: ['account.read'] }
    const provider = newProvider(decision)
    const connection = await connect.first(provider)
    // The older client would refresh first, which adds no scope, and then give up.
    if (connect === old) delete provider.kept.tokens.refresh_token
    delete decision.permissions
    await expect(connection.call('list_payments')).rejects.toThrow()
    expect(provider.kept.authorizations).toHaveLength(2)
    await connection.finish()
    expect(await connection.call('list_payments')).toContain('payments')
    expect(await connection.call('get_balance')).toContain('available_minor')
    expect(provider.kept.tokens.scope.split(' ')).toEqual(expect.arrayContaining(['account.read', 'payment.read']))
    await connection.close()
  })
})
