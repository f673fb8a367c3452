import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { attentionQuery, type Schemas } from '../../api/queries.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { subjectWords } from '../../lib/approval-subject.ts'
import { plainWords } from '../../lib/field-words.ts'
import { t } from '../../lib/language.ts'
import { daysAfter, localDate, now, timeOfDay, timeWithDay } from '../../lib/time.ts'
import { moneyText, share, shortMoney, sumMinor } from '../../lib/words.ts'
import { useAdministers } from '../../shell/nav-items.tsx'
import { type Session, useSession } from '../../shell/session.tsx'
import { FoldButton, type IconName, LinkButton } from '../../ui/button.tsx'
import { Item } from '../../ui/listing.tsx'
import { Card } from '../../ui/page.tsx'
import { FreezeButton, FrozenBadge, ofGrant, useWorkspaceAgents } from '../agents/agents.tsx'

type AnyNeed = Schemas['Attention']['needs'][number]
/** Excludes deposits in suspense, which are shown above with everything that waits for administrators of the service. */
type ShownNeed = Exclude<AnyNeed, { kind: 'deposits_in_suspense' }>
const isShownHere = (need: AnyNeed): need is ShownNeed => need.kind !== 'deposits_in_suspense'
type Need = {
  key: string
  tone: 'bad' | 'warn' | 'info'
  icon: IconName
  title: string
  note: ReactNode
  /** Link to the place that helps, or the agent to freeze. */
  action: { label: string; href: string } | { freeze: Schemas['Payment']['initiated_by'] }
  more?: { label: string; href: string }
}

const nearlyUsed = 0.8

type Reader = { currency: string; administers: boolean; can: Session['can']; mayFreeze: (accountId: string) => boolean }
/** `canResolve`: whether this reader can resolve the need: by a freeze, a limit, another number, or as an administrator. */
type PresentedNeed = Need & { canResolve: boolean }

/** Words for a need. A new kind does not compile without words; an older page shows no need of a newer service. */
const presentNeed = (need: ShownNeed, { currency, administers, can, mayFreeze }: Reader): PresentedNeed | null => {
  switch (need.kind) {
    case 'unknown_payments': {
      const list = need.count === 1 ? `/payments/${need.payment_id}` : '/payments?status=unknown'
      return {
        canResolve: administers,
        key: 'unknown',
        tone: 'warn',
        icon: 'alert',
        title: t('needs.unknown', { count: need.count }),
        note: t('needs.unknown_note', { amount: moneyText(need.amount_minor, currency) }),
        action: administers ? { label: t('end_it'), href: '/reconciliation/unknown' } : { label: t('see_it'), href: list },
      }
    }
    case 'repeated_payments': {
      const { by, beneficiary } = need
      const canResolve = by.grant_id !== null && mayFreeze(by.account_id)
      const list = { label: t('see_them'), href: `/payments?beneficiary=${beneficiary.id}` }
      return {
        canResolve,
        key: `repeated ${beneficiary.id} ${need.amount_minor} ${by.grant_id}`,
        tone: 'bad',
        icon: 'payments',
        title: t('needs.repeated', {
          count: need.count,
          amount: shortMoney(need.amount_minor, currency),
          payee: beneficiary.display_name,
        }),
        note: t(by.label === null ? 'needs.alike' : 'needs.all_by', {
          agent: by.label ?? '',
          from: timeOfDay(need.first_at),
          to: timeOfDay(need.last_at),
        }),
        ...(canResolve ? { action: { freeze: by }, more: list } : { action: list }),
      }
    }
    case 'refused_payments': {
      const { by, last, count } = need
      const amount = shortMoney(last.amount_minor, currency)
      const one = last.beneficiary ? t('to_payee', { amount, payee: last.beneficiary.display_name }) : amount
      const what = t('needs.refused_what', { what: one, count })
      const query = by.grant_id === null ? `person=${by.account_id}` : `agent=${by.grant_id}`
      return {
        canResolve: false,
        key: `refused ${by.account_id} ${by.grant_id}`,
        tone: 'warn',
        icon: 'cross',
        title: by.label ? t('needs.refused_for', { what, agent: by.label }) : t('needs.refused', { what }),
        note: plainWords(last.message),
        action: { label: t('see_why'), href: `/payments/refused?${query}` },
      }
    }
    case 'names_differ': {
      const { count, beneficiary, reported_name: name } = need
      const payee = beneficiary.display_name
      return {
        canResolve: can('beneficiary.manage'),
        key: 'names',
        tone: 'warn',
        icon: 'people',
        title: t('needs.names', { count, payee }),
        note: t(count === 1 ? 'needs.reports' : 'needs.reports_of', { payee, name: name ?? t('another_name') }),
        action: { label: t('see_it'), href: count === 1 ? `/beneficiaries/${beneficiary.id}` : '/beneficiaries?names=other' },
      }
    }
    case 'balance_short': {
      const { missing_minor: missing, scheduled_minor: scheduled, due_at: at } = need.shortage
      const canResolve = can('topup.create')
      const list = { label: t('see_scheduled'), href: '/payments?status=scheduled' }
      return {
        canResolve,
        key: `short ${at}`,
        tone: 'bad',
        icon: 'alert',
        title: missing === null ? t('needs.short_hidden') : t('needs.short', { amount: shortMoney(missing, currency) }),
        note: t('needs.short_note', { amount: moneyText(scheduled, currency), at: timeWithDay(at) }),
        ...(canResolve ? { action: { label: t('top_up'), href: '/top-up' }, more: list } : { action: list }),
      }
    }
    case 'limit_nearly_used': {
      const canResolve = can('policy.manage')
      return {
        canResolve,
        key: `limit ${need.policy_id} ${need.period}`,
        tone: 'info',
        icon: 'policy',
        title: t(`needs.limit.${need.period}`, { name: need.name, share: percent(need.used_minor, need.limit_minor) }),
        note: t('part_of', { used: moneyText(need.used_minor, currency), limit: moneyText(need.limit_minor, currency) }),
        action: { label: t(canResolve ? 'edit_limit' : 'see_it'), href: `/policies/${need.policy_id}` },
      }
    }
    default:
      need satisfies never
      return null
  }
}

const percent = (used: string, limit: string): string => `${Math.floor(share(used, limit) * 100)} %`

/** Tasks that this person can complete, decisions first, then items for information. Each group begins with the most urgent. */
const useNeeds = (): { needs: Need[]; informational: Need[] } => {
  const { account, workspace, currency, can } = useSession()
  const reader: Reader = {
    currency,
    administers: useAdministers(),
    can,
    mayFreeze: (accountId) => accountId === account.id || can('workspace.manage'),
  }
  const { data } = useQuery(attentionQuery)
  const { forMe } = useInbox()
  const agents = useWorkspaceAgents()
  const presented = (data?.needs ?? []).filter(isShownHere).flatMap((need) => presentNeed(need, reader) ?? [])
  const [next] = forMe
  const approvals: Need[] = next
    ? [
        {
          key: 'approvals',
          tone: 'warn',
          icon: 'approvals',
          title: t('needs.approvals', { count: forMe.length }),
          note:
            next.workspace.id === workspace.id
              ? subjectWords(next.approval)
              : t('in_workspace', { what: subjectWords(next.approval), workspace: next.workspace.name }),
          action: {
            label: t('review'),
            href: forMe.length === 1 && next.workspace.id === workspace.id ? `/approvals/${next.approval.id}` : '/approvals',
          },
        },
      ]
    : []
  const ofAgents = agents.own
    .flatMap((grant) => ofGrant(grant, `/agents/${grant.id}`))
    .filter(({ used, limit }) => share(used, limit) >= nearlyUsed)
    .map(
      ({ key, name, period, used, limit, href }): Need => ({
        key,
        tone: 'info',
        icon: 'robot',
        title: t('needs.of_agent', { name, share: percent(used, limit), period }),
        note: t('part_of', { used: moneyText(used, currency), limit: moneyText(limit, currency) }),
        action: { label: t('raise_limit'), href },
      }),
    )
  return {
    needs: [...approvals, ...presented.filter(({ canResolve }) => canResolve), ...ofAgents],
    informational: presented.filter(({ canResolve }) => !canResolve),
  }
}

/** "KES 27,300 was spent in 19 payments since yesterday. 3 things need you." */
export const useMorningSentence = (): string | null => {
  const { data } = useQuery(attentionQuery)
  const { needs } = useNeeds()
  if (!data) return null
  const recent = data.by_day.filter(({ date }) => date >= daysAfter(localDate(now()), -1))
  const count = recent.reduce((sum, day) => sum + day.count, 0)
  const amount = shortMoney(sumMinor(recent.map((day) => day.amount_minor)), data.currency)
  const went = count === 0 ? t('morning.none') : t('morning.spent', { amount, payments: t('payments', { count }) })
  return `${went} ${needs.length === 0 ? t('morning.quiet') : t('morning.needs', { count: needs.length })}`
}

const maxShown = 5

/** Needs that this person can resolve, and below them needs for information only. */
export const Needs = () => {
  const { needs, informational } = useNeeds()
  return (
    <>
      <Group title={t('needs.you')} needs={needs} />
      <Group title={t('needs.look')} needs={informational} />
    </>
  )
}

/** The first five needs, each with the one action that helps. A button shows the others. */
const Group = ({ title, needs }: { title: string; needs: readonly Need[] }) => {
  const [showsAll, setShowsAll] = useState(false)
  if (needs.length === 0) return null
  const rest = needs.length > maxShown && (
    <FoldButton
      open={showsAll}
      onChange={setShowsAll}
      words={[t('more_count', { count: needs.length - maxShown }), t('show_fewer')]}
    />
  )
  return (
    <Card title={title} label={title} footer={rest} flush>
      <ul className="rows">
        {needs.slice(0, showsAll ? needs.length : maxShown).map(({ key, tone, icon, title: what, note, action, more }) => (
          <li key={key}>
            <Item
              className="need"
              icon={icon}
              tone={tone}
              title={what}
              note={
                <>
                  {note} {more && <Link href={more.href}>{more.label}</Link>}
                </>
              }
            >
              {'freeze' in action ? (
                <span>
                  <FrozenBadge by={action.freeze} />
                  <FreezeButton by={action.freeze} />
                </span>
              ) : (
                <LinkButton href={action.href} size="small">
                  {action.label}
                </LinkButton>
              )}
            </Item>
          </li>
        ))}
      </ul>
    </Card>
  )
}
