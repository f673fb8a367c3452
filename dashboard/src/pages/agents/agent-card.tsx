import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import type { Schemas } from '../../api/queries.ts'
import { capitalized, shortMoney, statusText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Icon } from '../../ui/button.tsx'
import { Ring } from '../../ui/charts.tsx'
import { Badge, Time } from '../../ui/page.tsx'
import { type Agent, FreezeAgent } from './agents.tsx'

type Props = { agent: Agent; ownerId: string; lastAct?: LastAct | undefined; refusedWords?: string | undefined }

/** Of the limits that it has, the one that shows most: that of its one job, else the month's, else the day's. */
const ringOf = ({ spending_controls: limits, usage }: Agent) =>
  limits.total_limit_minor
    ? { used: usage.total_minor, limit: limits.total_limit_minor, period: 'in all' }
    : limits.monthly_limit_minor
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

export type LastAct = { words: string; at: string }

const ofPayment = ({ status, amount_minor: amount, currency, beneficiary, created_at: at }: Schemas['Payment']): LastAct => {
  const what = `${shortMoney(amount, currency)} to ${beneficiary.display_name}`
  return { at, words: status === 'succeeded' ? `Paid ${what}` : `Requested ${what} (${statusText(status).toLowerCase()})` }
}

const ofRefusal = ({ amount_minor: amount, currency, beneficiary, created_at: at }: Schemas['RefusedPayment']): LastAct => ({
  at,
  words: `Was refused ${shortMoney(amount, currency)} ${beneficiary ? `to ${beneficiary.display_name}` : 'in a list'}`,
})

export const lastActOf = (
  grantId: string,
  payments: readonly Schemas['Payment'][],
  refusals: readonly Schemas['RefusedPayment'][],
): LastAct | undefined => {
  const payment = payments.find(({ initiated_by: by }) => by.grant_id === grantId)
  const refusal = refusals.find(({ initiated_by: by }) => by.grant_id === grantId)
  const acts = [...(payment ? [ofPayment(payment)] : []), ...(refusal ? [ofRefusal(refusal)] : [])]
  return acts.sort((a, b) => Date.parse(b.at) - Date.parse(a.at))[0]
}
