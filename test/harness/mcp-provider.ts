import type { Client, Json } from './client.ts'
import { decide, redirectUri } from './oauth.ts'

/** An application's storage for its MCP client, and a browser whose owner always approves. */
export const newMcpProvider = (service: Client, person: { api: Client }, decision: Json = { decision: 'approve' }) => {
  const kept: {
    client?: Json
    tokens?: Json
    verifier?: string
    discovery?: Json
    answer?: URLSearchParams
    authorizations: URL[]
    saves: number
  } = {
    authorizations: [],
    saves: 0,
  }
  return {
    kept,
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: 'MCP agent',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'mcp state',
    clientInformation: () => kept.client,
    saveClientInformation: (client: Json) => {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: Json) => {
      kept.tokens = tokens
      kept.saves += 1
    },
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier
    },
    // Newer clients need it: the metadata's source must be the same when the answer comes back.
    saveDiscoveryState: (state: Json) => {
      kept.discovery = state
    },
    discoveryState: () => kept.discovery,
    codeVerifier: () => kept.verifier ?? '',
    redirectToAuthorization: async (url: URL) => {
      kept.authorizations.push(url)
      const authorizations = await person.api.get(url.pathname + url.search)
      const id = new URL(authorizations.headers.get('location') ?? '', service.url).searchParams.get('authorization') ?? ''
      kept.answer = new URL((await decide(person, id, decision)).body.redirect_to).searchParams
    },
    /** The application passes the browser's answer to its transport. */
    takeAnswer: () => {
      const answer = kept.answer ?? new URLSearchParams()
      delete kept.answer
      return answer
    },
  }
}

export type McpProvider = ReturnType<typeof newMcpProvider>
