import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { paymentsQuery } from '../../api/queries.ts'
import { lastActOf } from '../../lib/last-act.ts'
import { useSession } from '../../shell/session.tsx'
import { Card } from '../../ui/layout.tsx'
import { AgentCard } from '../agents/agent-card.tsx'
import { useWorkspaceAgents } from '../agents/use-agents.ts'
import { recentPayments } from './recent-payments.tsx'

const mostShown = 4

/** The agents that were used last, with the way to stop each. */
export const AgentsStrip = () => {
  const { account, can } = useSession()
  const { own } = useWorkspaceAgents()
  const { data } = useInfiniteQuery({ ...paymentsQuery({}, recentPayments), enabled: can('payment.read') })
  const recent = data?.pages.flatMap((page) => page.data) ?? []
  if (own.length === 0) return null
  return (
    <Card
      title="Agents"
      actions={
        <Link href="/agents" className="small">
          View all
        </Link>
      }
      flush
    >
      <ul className="agent-cards">
        {own.slice(0, mostShown).map((agent) => (
          <li key={agent.id}>
            <AgentCard agent={agent} ownerId={account.id} lastAct={lastActOf(agent.id, recent, [])} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
