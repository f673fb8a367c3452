import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { lastPaymentQuery, paymentsQuery, refusalsQuery } from '../../api/queries.ts'
import { now } from '../../lib/clock.ts'
import { type LastAct, lastActOf } from '../../lib/last-act.ts'
import { countWords } from '../../lib/list-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, NewLink } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card, Empty, Page, SkeletonCard } from '../../ui/layout.tsx'
import { AgentCard } from './agent-card.tsx'
import { ConnectAgent } from './connect-agent.tsx'
import { freezeOutdates, setFrozen } from './freeze-agent.tsx'
import { type Agent, useWorkspaceAgents } from './use-agents.ts'

type Props = { agents: readonly Agent[]; manages: boolean; onClose: () => void }

/** One act that stops all of them: of the whole workspace for who manages it, else one's own. */
const StopAll = ({ agents, manages, onClose }: Props) => (
  <Confirm
    title={`Stop ${countWords(agents.length, 'agent')}?`}
    action="Stop all"
    change={async () => {
      if (manages) return (await call(api.POST('/v1/workspaces/current/grants/freeze'))).frozen
      for (const { id } of agents) await setFrozen(id, true, true)
      return agents.length
    }}
    announcement={(count) => `${countWords(count, 'agent')} frozen`}
    outdates={freezeOutdates}
    onClose={onClose}
  >
    <p>
      No key and no agent {manages ? 'of any member of this workspace' : 'of yours in this workspace'} can move money until it is
      unfrozen. They can still read. Payments already sent still arrive.
    </p>
  </Confirm>
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
  const { own, others, isPending, error, manages } = useWorkspaceAgents(true)
  const actsOf = useLastActs([...own, ...others])
  const [stopping, setStopping] = useState(false)
  const stoppable = (manages ? [...own, ...others] : own).filter(({ frozen }) => !frozen)
  return (
    <Page
      title="Agents"
      lead={`What acts for people in ${workspace.name}, each within its limits.`}
      actions={
        <>
          {stoppable.length > 0 && (
            <Button variant="danger" icon="freeze" onClick={() => setStopping(true)}>
              Stop everything by agents
            </Button>
          )}
          {can('key.manage') && <NewLink href="/developers/keys/new">New API key</NewLink>}
        </>
      }
    >
      {error && <Failure error={error} />}
      {isPending && <SkeletonCard rows={3} />}
      {!isPending && own.length + others.length === 0 && (
        <div className="card">
          <Empty icon="robot" title="No agents yet">
            An agent acts for you with a key of its own or by signing in. You set its limits, and you can stop it at any time.
          </Empty>
        </div>
      )}
      {own.length > 0 && (
        <Cards title={others.length > 0 ? 'Yours' : countWords(own.length, 'agent')} agents={own} actsOf={actsOf} />
      )}
      {others.length > 0 && <Cards title="Of other members" agents={others} actsOf={actsOf} />}
      {!isPending && <ConnectAgent />}
      {stopping && <StopAll agents={stoppable} manages={manages} onClose={() => setStopping(false)} />}
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
  const paid = payments.data?.pages.flatMap(({ data }) => data) ?? []
  const refused = refusals.data?.pages.flatMap(({ data }) => data) ?? []
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
