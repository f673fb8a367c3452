import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import type { Schemas } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { capitalized, compareMinor, leftOf, shortMoney, statusText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Ring } from '../../ui/meter.tsx'
import { Badge, Time } from '../../ui/page.tsx'
import { type Agent, FreezeToggle, type LimitUse, limitUseOfGrant } from './agents.tsx'

type Props = { agent: Agent; ownerId: string; lastAct?: LastAct | undefined; refusedWords?: string | undefined }

/** The limit with the smallest amount left. */
const bindingOf = (agent: Agent): LimitUse | undefined =>
  limitUseOfGrant(agent, '').toSorted((one, other) => compareMinor(leftOf(one), leftOf(other)))[0]

/** A key or an agent: use of its limit, its last action, and the button that freezes it. */
export const AgentCard = ({ agent, ownerId, lastAct, refusedWords }: Props) => {
  const { currency } = useSession()
  const people = usePeople()
  const ring = bindingOf(agent)
  const { id, label, own, frozen } = agent
  const money = (minor: string) => shortMoney(minor, currency)
  const budget = agent.spending_controls.total_limit_minor
  return (
    <div className="row agent-card">
      {ring ? (
        <Ring used={ring.used} limit={ring.limit} currency={currency} label={t('agent.used', { label, period: ring.period })} />
      ) : (
        <span className="avatar avatar-large">
          <Icon name={agent.kind === 'oauth' ? 'robot' : 'key'} size={20} />
        </span>
      )}
      <div className="grow">
        <p className="item-title">
          <Link href={`/agents/${id}`}>{label}</Link>
          {frozen && <Badge tone="info">{t('status.frozen')}</Badge>}
        </p>
        <p className="item-note">
          {budget
            ? t('agent.left', { amount: money(leftOf({ used: agent.usage.total_minor, limit: budget })), limit: money(budget) })
            : t('agent.used_month', { amount: money(agent.usage.month_minor) })}
          {agent.account_id !== ownerId && t('agent.whose', { who: capitalized(people(agent.account_id)) })}
        </p>
        {ring && ring.period !== t('period.in_all') && (
          <p className="item-note">
            {t('part_of', { used: shortMoney(ring.used, currency), limit: shortMoney(ring.limit, currency) })} {ring.period}
          </p>
        )}
        <p className="item-note">
          <Time
            at={lastAct?.at ?? agent.last_used_at}
            before={lastAct ? `${lastAct.words}, ` : t('agent.active')}
            none={t('agent.never_used')}
          />
          {refusedWords && (
            <>
              {' · '}
              <Link href={`/payments/refused?agent=${id}`}>{refusedWords}</Link>
            </>
          )}
        </p>
      </div>
      <FreezeToggle agent={agent} own={own} size="small" label={`${frozen ? t('unfreeze') : t('freeze')} ${label}`} />
    </div>
  )
}

export type LastAct = { words: string; at: string }

const ofPayment = ({ status, amount_minor: amount, currency, beneficiary, created_at: at }: Schemas['Payment']): LastAct => {
  const what = t('to_payee', { amount: shortMoney(amount, currency), payee: beneficiary.display_name })
  return {
    at,
    words:
      status === 'succeeded'
        ? t('agent.paid', { what })
        : t('agent.requested', { what, status: statusText(status).toLowerCase() }),
  }
}

const ofRefusal = ({ amount_minor: amount, currency, beneficiary, created_at: at }: Schemas['RefusedPayment']): LastAct => ({
  at,
  words: t('agent.was_refused', {
    amount: shortMoney(amount, currency),
    what: beneficiary ? t('agent.to', { display_name: beneficiary.display_name }) : t('agent.in_list'),
  }),
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
