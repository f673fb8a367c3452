import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { api, lastPaymentQuery, paymentsQuery, refusalsQuery, rowsOf } from '../../api/queries.ts'
import { now } from '../../lib/time.ts'
import { countWords } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { CodeBlock, cx, Icon, NewLink, ToggleChip } from '../../ui/button.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Card, EmptyCard, Failure, Page, SkeletonCard } from '../../ui/page.tsx'
import { AgentCard, type LastAct, lastActOf } from './agent-card.tsx'
import { type Agent, freezeOutdates, setFrozen, useWorkspaceAgents } from './agents.tsx'

type Props = { agents: readonly Agent[]; manages: boolean }

/** One act that stops all of them: of the whole workspace for who manages it, else one's own. */
const StopAll = ({ agents, manages }: Props) => (
  <ConfirmButton
    button={{ variant: 'danger', icon: 'freeze', children: 'Stop everything by agents' }}
    title={manages ? 'Stop every agent of this workspace?' : `Stop ${countWords(agents.length, 'agent')}?`}
    action="Stop all"
    change={async () => {
      if (manages) return (await api.POST('/v1/workspaces/current/grants/freeze')).frozen
      for (const { id } of agents) await setFrozen(id, true, true)
      return agents.length
    }}
    announcement={(count) => (count === 0 ? 'Every agent was frozen already' : `${countWords(count, 'agent')} frozen`)}
    outdates={freezeOutdates}
  >
    <p>
      No key and no agent {manages ? 'of any member of this workspace' : 'of yours in this workspace'} can move money until it is
      unfrozen. They can still read. Payments already sent still arrive.
    </p>
  </ConfirmButton>
)

type CardsProps = { title: string; agents: readonly Agent[]; actsOf: ReturnType<typeof useLastActs> }

const Cards = ({ title, agents, actsOf }: CardsProps) => {
  const { account } = useSession()
  return (
    <Card title={title} flush>
      <ul className="agent-cards">
        {agents.map((agent) => (
          <li key={agent.id}>
            <AgentCard agent={agent} ownerId={account.id} {...actsOf(agent.id)} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** Keys, connected agents and devices together: who acts for whom here, within which limits, and how to stop it. */
export const AgentsPage = () => {
  const { workspace, can } = useSession()
  const { own, others, isPending, error, retry, manages } = useWorkspaceAgents(true)
  const actsOf = useLastActs([...own, ...others])
  // A member could unfreeze what only the member has frozen.
  const stoppable = [...own.filter(({ frozen }) => !frozen), ...(manages ? others : [])]
  return (
    <Page
      title="Agents"
      lead={`What acts for people in ${workspace.name}, each within its limits.`}
      actions={
        <>
          {stoppable.length > 0 && <StopAll agents={stoppable} manages={manages} />}
          {can('key.manage') && <NewLink href="/developers/keys/new">New API key</NewLink>}
        </>
      }
    >
      {error && <Failure error={error} onRetry={retry} />}
      {isPending && <SkeletonCard rows={3} />}
      {!isPending && !error && own.length + others.length === 0 && (
        <EmptyCard icon="robot" title="No agents yet">
          An agent acts for you with a key of its own or by signing in. You set its limits, and you can stop it at any time.
        </EmptyCard>
      )}
      {own.length > 0 && (
        <Cards title={others.length > 0 ? 'Yours' : countWords(own.length, 'agent')} agents={own} actsOf={actsOf} />
      )}
      {others.length > 0 && <Cards title="Of other members" agents={others} actsOf={actsOf} />}
      {!isPending && <ConnectAgent />}
    </Page>
  )
}

const dayMs = 86_400_000

type Acts = {
  lastAct: LastAct | undefined
  /** "3 refused in 24 hours"; undefined where none was. */
  refusedWords: string | undefined
}

/** What each agent did last and how often it was refused in the last 24 hours: from two lists, and an own look at who is in neither. */
const useLastActs = (agents: readonly Agent[]): ((id: string) => Acts) => {
  const { can } = useSession()
  const enabled = can('payment.read')
  const payments = useInfiniteQuery({ ...paymentsQuery({}, 100), enabled })
  const refusals = useInfiniteQuery({ ...refusalsQuery({}, 100), enabled })
  const [paid, refused] = [rowsOf(payments), rowsOf(refusals)]
  const unseen = payments.hasNextPage
    ? agents.filter(({ id, last_used_at: used }) => used !== null && !paid.some(({ initiated_by: by }) => by.grant_id === id))
    : []
  const older = useQueries({
    queries: unseen.map(({ id }) => lastPaymentQuery(id)),
    combine: (results) => results.flatMap(({ data }) => data?.data ?? []),
  })
  const since = now() - dayMs
  const isRecent = ({ created_at: at }: { created_at: string }) => Date.parse(at) > since
  const oldest = refused.at(-1)
  const more = refusals.hasNextPage && oldest && isRecent(oldest) ? 'at least ' : ''
  return (id) => {
    const count = refused.filter((refusal) => refusal.initiated_by.grant_id === id && isRecent(refusal)).length
    return {
      lastAct: lastActOf(id, [...paid, ...older], refused),
      refusedWords: count === 0 ? undefined : `${more}${count} refused in 24 hours`,
    }
  }
}

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

const ConnectAgent = () => {
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
            <ToggleChip key={name} on={name === way.name} onClick={() => setChosen(name)}>
              {name}
            </ToggleChip>
          ))}
        </fieldset>
        <p className="quiet">{way.text}</p>
        <CodeBlock label={way.label} code={way.code} />
        {way.name === 'Code' && (
          <p className="small">
            <Link href="/developers/keys/new">Create a key</Link> · <a href="/docs">API reference</a>
          </p>
        )}
        <p className={cx('row row-tight small', arrived ? 'good-text' : 'quiet')} role="status">
          {arrived ? <Icon name="check" size={16} /> : <span className="waiting-dot" aria-hidden="true" />}
          {arrived ? `${arrived} is connected` : 'Waiting for it to connect…'}
        </p>
      </div>
    </Card>
  )
}
