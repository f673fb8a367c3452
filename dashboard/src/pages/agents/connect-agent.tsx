import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { CodeBlock } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { useWorkspaceAgents } from './use-agents.ts'

type Way = { name: string; text: string; label: string; code: string }

/** One line for each kind of agent. All but the last sign in by themselves: the person allows it on a page here. */
const ways = (origin: string): readonly Way[] => [
  {
    name: 'Claude',
    text: 'In Claude, open Settings, Connectors, “Add custom connector”, and paste this address. In Claude Code, run “claude mcp add --transport http payments” with it.',
    label: 'Address for Claude',
    code: `${origin}/mcp`,
  },
  {
    name: 'ChatGPT',
    text: 'In ChatGPT, open Settings, Connectors, “Create”, and paste this address as the MCP server URL.',
    label: 'Address for ChatGPT',
    code: `${origin}/mcp`,
  },
  {
    name: 'Cursor',
    text: 'Add this to .cursor/mcp.json in your project or your home folder.',
    label: 'Settings for Cursor',
    code: JSON.stringify({ mcpServers: { payments: { url: `${origin}/mcp` } } }),
  },
  {
    name: 'CLI',
    text: 'In a terminal. It opens a page here, where you allow it.',
    label: 'Command for a terminal',
    code: `npx --package=${origin}/client.tgz payments login --url ${origin}`,
  },
  {
    name: 'Code',
    text: 'With an API key of its own. The reference lists every call.',
    label: 'First request from code',
    code: `curl ${origin}/v1/credentials/current -H "Authorization: Bearer $PAYMENTS_API_KEY"`,
  },
]

/** Whether something was connected while this page is open. */
const useArrival = (): string | null => {
  const { own, isPending } = useWorkspaceAgents()
  const known = useRef<Set<string> | null>(null)
  const [arrived, setArrived] = useState<string | null>(null)
  useEffect(() => {
    if (isPending) return
    const fresh = known.current && own.find(({ id }) => !known.current?.has(id))
    known.current = new Set(own.map(({ id }) => id))
    if (fresh) setArrived(fresh.label)
  }, [own, isPending])
  return arrived
}

export const ConnectAgent = () => {
  const all = ways(location.origin)
  const [chosen, setChosen] = useState(all[0]?.name)
  const arrived = useArrival()
  const way = all.find(({ name }) => name === chosen) ?? all[0]
  if (!way) return null
  return (
    <Card title="Connect an agent" note="It asks, you see who it is and set its limits, and you can stop it at any time.">
      <div className="stack-s">
        <fieldset className="row row-tight">
          <legend className="visually-hidden">Kind of agent</legend>
          {all.map(({ name }) => (
            <button
              key={name}
              type="button"
              className="chip chip-button"
              aria-pressed={name === way.name}
              onClick={() => setChosen(name)}
            >
              {name}
            </button>
          ))}
        </fieldset>
        <p className="quiet">{way.text}</p>
        <CodeBlock label={way.label} code={way.code} />
        {way.name === 'Code' && (
          <p className="small">
            <Link href="/developers/keys/new">Create a key</Link> · <a href="/docs">API reference</a>
          </p>
        )}
        <p className={arrived ? 'waiting waiting-done' : 'waiting'} role="status">
          {arrived ? <Icon name="check" size={16} /> : <span className="waiting-dot" aria-hidden="true" />}
          {arrived ? `${arrived} is connected` : 'Waiting for it to connect…'}
        </p>
      </div>
    </Card>
  )
}
