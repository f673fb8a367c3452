import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { api, lastPaymentQuery, paymentsQuery, refusalsQuery, rowsOf } from '../../api/queries.ts'
import { cx } from '../../lib/class-names.ts'
import { t } from '../../lib/language.ts'
import { now } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'
import { NewLink, ToggleChip } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, EmptyCard, Failure, Page, SkeletonCard } from '../../ui/page.tsx'
import { AgentCard, type LastAct, lastActOf } from './agent-card.tsx'
import { type Agent, freezeOutdates, setFrozen, useWorkspaceAgents } from './agents.tsx'
import { tAgentList } from './list-texts.ts'
import { tAgent } from './texts.ts'

/** Stops all agents together: the whole workspace's for a manager, else the person's own. */
const StopAll = ({ agents, manages }: { agents: readonly Agent[]; manages: boolean }) => (
  <ConfirmButton
    button={{ variant: 'danger', icon: 'freeze', children: tAgentList('stop') }}
    title={manages ? tAgentList('stop.every') : tAgentList('stop.count', { count: agents.length })}
    action={tAgentList('stop.all')}
    change={async () => {
      if (manages) return (await api.POST('/v1/workspaces/current/grants/freeze')).frozen
      for (const { id } of agents) await setFrozen(id, true, true)
      return agents.length
    }}
    announcement={(count) => (count === 0 ? tAgentList('stop.already') : tAgentList('stop.done', { count }))}
    invalidates={freezeOutdates}
  >
    <p>{tAgentList('stop.note', { what: manages ? tAgentList('stop.any') : tAgentList('stop.own') })}</p>
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

/** Keys, connected agents and devices, each with its owner, its limits, and a way to stop it. */
export const AgentsPage = () => {
  const { workspace, can } = useSession()
  const { own, others, isPending, error, retry, manages } = useWorkspaceAgents(true)
  const actsOf = useLastActs([...own, ...others])
  // Includes agents that only their member has frozen: the member could unfreeze them.
  const stoppable = [...own.filter(({ frozen }) => !frozen), ...(manages ? others : [])]
  return (
    <Page
      title={t('nav.agents')}
      lead={tAgentList('lead', { name: workspace.name })}
      actions={
        <>
          {stoppable.length > 0 && <StopAll agents={stoppable} manages={manages} />}
          {can('key.manage') && <NewLink href="/developers/keys/new">{tAgent('new_key')}</NewLink>}
        </>
      }
    >
      {error && <Failure error={error} onRetry={retry} />}
      {isPending && <SkeletonCard rows={3} />}
      {!isPending && !error && own.length + others.length === 0 && (
        <EmptyCard icon="robot" title={tAgentList('none')}>
          {tAgentList('none.note')}
        </EmptyCard>
      )}
      {own.length > 0 && (
        <Cards
          title={others.length > 0 ? tAgentList('yours') : tAgentList('agents', { count: own.length })}
          agents={own}
          actsOf={actsOf}
        />
      )}
      {others.length > 0 && <Cards title={tAgentList('of_others')} agents={others} actsOf={actsOf} />}
      {!isPending && <ConnectAgent />}
    </Page>
  )
}

const dayMs = 86_400_000

type Acts = {
  lastAct: LastAct | undefined
  /** "3 refused in 24 hours"; undefined without refusals. */
  refusedWords: string | undefined
}

/** Last action and recent refusals of each agent. An agent whose payments are not among the newest needs its own request. */
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
  const more = refusals.hasNextPage && oldest && isRecent(oldest) ? tAgentList('at_least') : ''
  return (id) => {
    const count = refused.filter((refusal) => refusal.initiated_by.grant_id === id && isRecent(refusal)).length
    return {
      lastAct: lastActOf(id, [...paid, ...older], refused),
      refusedWords: count === 0 ? undefined : tAgentList('refused_day', { more, count }),
    }
  }
}

/** One entry for each kind of agent. All but the last ask for access themselves, which a person allows on the consent page. */
const ways = (origin: string): readonly { name: string; text: string; label: string; code: string }[] => [
  {
    name: 'Claude',
    text: tAgentList('claude'),
    label: tAgentList('claude.label'),
    code: `${origin}/mcp`,
  },
  {
    name: 'ChatGPT',
    text: tAgentList('chatgpt'),
    label: tAgentList('chatgpt.label'),
    code: `${origin}/mcp`,
  },
  {
    name: 'Cursor',
    text: tAgentList('cursor'),
    label: tAgentList('cursor.label'),
    code: JSON.stringify({ mcpServers: { payments: { url: `${origin}/mcp` } } }),
  },
  {
    name: 'CLI',
    text: tAgentList('cli'),
    label: tAgentList('cli.label'),
    code: `npx --package=${origin}/client.tgz payments login --url ${origin}`,
  },
  {
    name: 'Code',
    text: tAgentList('code'),
    label: tAgentList('code.label'),
    code: `curl ${origin}/v1/credentials/current -H "Authorization: Bearer $PAYMENTS_API_KEY"`,
  },
]

const useNewAgentLabel = (): string | null => {
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
  const arrived = useNewAgentLabel()
  const way = all.find(({ name }) => name === chosen) ?? all[0]
  if (!way) return null
  return (
    <Card title={tAgentList('connect')} note={tAgentList('connect.note')}>
      <div className="stack-s">
        <fieldset className="row row-tight">
          <legend className="visually-hidden">{tAgentList('connect.kind')}</legend>
          {all.map(({ name }) => (
            <ToggleChip key={name} on={name === way.name} onClick={() => setChosen(name)}>
              {name}
            </ToggleChip>
          ))}
        </fieldset>
        <p className="muted">{way.text}</p>
        <CodeBlock label={way.label} code={way.code} />
        {way.name === 'Code' && (
          <p className="small">
            <Link href="/developers/keys/new">{tAgentList('create_key')}</Link> · <a href="/docs">{t('api_reference')}</a>
          </p>
        )}
        <p className={cx('row row-tight small', arrived ? 'good-text' : 'muted')} role="status">
          {arrived ? <Icon name="check" size={16} /> : <span className="waiting-dot" aria-hidden="true" />}
          {arrived ? tAgentList('connect.done', { arrived }) : tAgentList('connect.waiting')}
        </p>
      </div>
    </Card>
  )
}
