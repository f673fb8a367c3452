import { Link } from 'wouter'
import { useSession } from '../../shell/session.tsx'
import { Card } from '../../ui/layout.tsx'
import { AgentCard } from '../agents/agent-card.tsx'
import { useWorkspaceAgents } from '../agents/use-agents.ts'

const mostShown = 4

/** The agents that were used last, with the way to stop each. */
export const AgentsStrip = () => {
  const { account } = useSession()
  const { own } = useWorkspaceAgents()
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
            <AgentCard agent={agent} ownerId={account.id} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
