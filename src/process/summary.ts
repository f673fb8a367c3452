import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import { localUrl } from '../lib/loopback.ts'
import { providerLabels } from '../rails/texts.ts'

export type Facts = {
  config: Config
  processes: number
  /** The URL without its password. */
  database: string
  keysFile: string | null
  keysMade: boolean
  /** The URL of the providers' emulator. Null with real providers. */
  sandboxUrl: string | null
  seconds: number
}

const simulatedSignIn = (config: Config) => {
  const names = [...(config.GOOGLE_CLIENT_ID ? [] : ['Google']), ...(config.GITHUB_CLIENT_ID ? [] : ['GitHub'])]
  return config.maySimulateIdentities && names.length > 0 ? names.join(' and ') : undefined
}

export const summarize = (facts: Facts): string => {
  const { config } = facts
  const url = config.publicUrl
  const embedded = config.DATABASE_URL === undefined
  const signIn = simulatedSignIn(config)
  const simulated = facts.sandboxUrl !== null
  const rows: (readonly [name: string, value: string] | false)[] = [
    ['API', facts.processes === 1 ? url : `${url} (${facts.processes} processes)`],
    ['Quickstart', `${url}/docs/guides/quickstart`],
    ['Reference', `${url}/docs`],
    ['MCP', `${url}/mcp, tools for agents`],
    ['Dashboard', `${url}/`],
    ['Operator', `${localUrl(config.OPERATOR_HOST, config.OPERATOR_PORT)} (private: provider callbacks, /metrics)`],
    ['Data', embedded ? `${resolve(config.DATA_DIR)} (PostgreSQL, embedded)` : facts.database],
    facts.keysFile !== null && ['Keys', `${facts.keysFile} (${facts.keysMade ? 'just made' : 'kept'}, for development)`],
    simulated && [
      'Simulated',
      `${providerLabels.join(' and ')}: no money moves; rules and journal at ${facts.sandboxUrl}/control`,
    ],
    simulated && ['', 'API keys start with service_live_, but move no real money here'],
    simulated && ['', `any phone number pays; numbers that fail: ${url}/docs/guides/sandbox`],
    config.mailDelivery === 'sandbox' && ['', `e-mail, on ${url}/sandbox/mail`],
    signIn !== undefined && [simulated ? '' : 'Simulated', `sign-in with ${signIn}`],
    config.NODE_ENV !== 'production' && ['Try', 'npm run demo, in another terminal'],
  ]
  const lines = rows.flatMap((row) => (row ? `  ${row[0].padEnd(11)}${row[1]}` : []))
  return `\nThe payments service is ready after ${facts.seconds.toFixed(1)} s.\n\n${lines.join('\n')}\n`
}
