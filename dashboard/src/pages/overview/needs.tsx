import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { attentionQuery } from '../../api/queries.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { subjectWords } from '../../lib/approval-subject.ts'
import { t } from '../../lib/language.ts'
import { daysAfter, localDate, now } from '../../lib/time.ts'
import { moneyText, share, shortMoney, sumMinor } from '../../lib/words.ts'
import { useAdministers } from '../../shell/nav-items.tsx'
import { useSession } from '../../shell/session.tsx'
import { FoldButton, LinkButton } from '../../ui/button.tsx'
import { Item } from '../../ui/listing.tsx'
import { Card } from '../../ui/page.tsx'
import { FreezeRequester, FrozenBadge, limitUseOfGrant, useWorkspaceAgents } from '../agents/agents.tsx'
import { isShownHere, type Need, percent, presentNeed, type Reader } from './need-words.ts'

const nearlyUsed = 0.8

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
    .flatMap((grant) => limitUseOfGrant(grant, `/agents/${grant.id}`))
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
                  <FreezeRequester by={action.freeze} />
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
