import { Link } from 'wouter'
import { usePeople } from '../../api/use-people.ts'
import type { LastAct } from '../../lib/last-act.ts'
import { shortMoney } from '../../lib/money.ts'
import { capitalized } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Ring } from '../../ui/meter.tsx'
import { Badge, Time } from '../../ui/page.tsx'
import { FreezeAgent } from './freeze-agent.tsx'
import type { Agent } from './use-agents.ts'

type Props = { agent: Agent; ownerId: string; lastAct?: LastAct | undefined; refusedWords?: string | undefined }

/** Of the limits that it has, the one that shows most: the month's, else the day's. */
const ringOf = ({ spending_controls: limits, usage }: Agent) =>
  limits.monthly_limit_minor
    ? { used: usage.month_minor, limit: limits.monthly_limit_minor, period: 'this month' }
    : limits.daily_limit_minor
      ? { used: usage.today_minor, limit: limits.daily_limit_minor, period: 'today' }
      : null

/** A key or an agent: how much of its limit is used, what it did last, and the switch that stops it. */
export const AgentCard = ({ agent, ownerId, lastAct, refusedWords }: Props) => {
  const { currency } = useSession()
  const people = usePeople()
  const ring = ringOf(agent)
  const { id, label, own, frozen } = agent
  return (
    <div className="row agent-card">
      {ring ? (
        <Ring used={ring.used} limit={ring.limit} currency={currency} label={`${label}, used ${ring.period}`} />
      ) : (
        <span className="avatar avatar-large">
          <Icon name={agent.kind === 'oauth' ? 'robot' : 'key'} size={20} />
        </span>
      )}
      <div className="grow">
        <p className="item-title">
          <Link href={`/agents/${id}`}>{label}</Link>
          {frozen && <Badge tone="info">Frozen</Badge>}
        </p>
        <p className="item-note">
          {shortMoney(agent.usage.month_minor, currency)} used this month
          {agent.account_id !== ownerId && ` · ${capitalized(people(agent.account_id))}’s`}
        </p>
        <p className="item-note">
          <Time at={lastAct?.at ?? agent.last_used_at} before={lastAct ? `${lastAct.words}, ` : 'Active '} none="Never used" />
          {refusedWords && (
            <>
              {' · '}
              <Link href={`/payments/refused?agent=${id}`}>{refusedWords}</Link>
            </>
          )}
        </p>
      </div>
      <FreezeAgent agent={agent} own={own} size="small" label={`${frozen ? 'Unfreeze' : 'Freeze'} ${label}`} />
    </div>
  )
}
