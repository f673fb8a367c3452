import { type ComponentProps, useState } from 'react'
import { api, grantsQuery, rowsOf, type Schemas, workspaceGrantsQuery } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { t } from '../../lib/language.ts'
import { now } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'
import { Confirm, DialogButton } from '../../ui/form.tsx'
import { Badge } from '../../ui/page.tsx'

type By = Schemas['Payment']['initiated_by']

/** Whether an agent is frozen, as far as this person can see: their own agents, and for a workspace manager all agents. */
const useIsFrozen = ({ account_id: owner, grant_id: id }: Pick<By, 'account_id' | 'grant_id'>): boolean => {
  const { account, can } = useSession()
  const own = owner === account.id
  const mine = useEvery({ ...grantsQuery, enabled: id !== null && own })
  const everyone = useEvery({ ...workspaceGrantsQuery, enabled: id !== null && !own && can('workspace.manage') })
  return rowsOf(own ? mine : everyone).some((grant) => grant.id === id && grant.frozen)
}

/** Badge beside the name of a frozen agent, which cannot move money. */
export const FrozenBadge = ({ by }: { by: Pick<By, 'account_id' | 'grant_id'> }) =>
  useIsFrozen(by) && <Badge tone="info">{t('status.frozen')}</Badge>

export const freezeOutdates = ['grants', 'grant', 'api-keys', 'audit'] as const

/** Freezes or unfreezes the person's own agent, or any agent of the workspace for an owner or administrator. */
export const setFrozen = async (id: string, own: boolean, frozen: boolean): Promise<void> => {
  const change = { path: { id }, body: { frozen } }
  if (own) await api.PATCH('/v1/accounts/me/grants/{id}', change)
  else await api.PATCH('/v1/workspaces/current/grants/{id}', change)
}

type Props = {
  agent: { id: string; label: string; frozen: boolean }
  /** Whether the agent belongs to the reader. */
  own: boolean
}
type ButtonProps = Props & Omit<ComponentProps<typeof DialogButton>, 'children' | 'dialog'>

/** Freezing can be undone; revoking cannot. */
export const FreezeToggle = ({ agent, own, ...button }: ButtonProps) => (
  <DialogButton icon="freeze" {...button} dialog={(close) => <ConfirmFreeze agent={agent} own={own} onClose={close} />}>
    {t(agent.frozen ? 'unfreeze' : 'freeze')}
  </DialogButton>
)

const ConfirmFreeze = ({ agent: { id, label, frozen: isFrozen }, own, onClose }: Props & { onClose: () => void }) => {
  // Read once, when the dialog opens. If an answer is lost and the list reloads, a second click must not unfreeze the agent.
  const [frozen] = useState(isFrozen)
  const verb = frozen ? t('unfreeze') : t('freeze')
  return (
    <Confirm
      title={`${verb} ${label}?`}
      action={verb}
      harmless={frozen}
      change={() => setFrozen(id, own, !frozen)}
      announcement={() => t(frozen ? 'unfrozen.done' : 'frozen.done', { label })}
      invalidates={freezeOutdates}
      onClose={onClose}
    >
      <p>{frozen ? t('unfrozen.note') : t('frozen.note')}</p>
    </Confirm>
  )
}

/** Freezes the agent that requested a payment. Absent for people, for frozen agents, and for readers without permission. */
export const FreezeRequester = ({ by, asIcon = false }: { by: By; asIcon?: boolean }) => {
  const { account, can } = useSession()
  const frozen = useIsFrozen(by)
  const { grant_id: id, account_id: owner } = by
  const own = owner === account.id
  if (id === null || !(own || can('workspace.manage'))) return null
  const label = by.label ?? t('this_agent')
  const button = { size: 'small', label: t('freeze_what', { label }), asIcon, offered: !frozen } as const
  return <FreezeToggle agent={{ id, label, frozen: false }} own={own} {...button} />
}

/** A key, a connected agent or a device that acts for someone in this workspace. */
export type Agent = Schemas['Grant'] & { account_id: string; own: boolean }

export const isLive = ({ revoked_at: revoked, expires_at: expires }: Schemas['Grant']): boolean =>
  revoked === null && (expires === null || Date.parse(expires) > now())

const newestUse = (a: Agent, b: Agent): number =>
  Date.parse(b.last_used_at ?? b.created_at) - Date.parse(a.last_used_at ?? a.created_at)

/** Whether pages of a list are still missing. A list that cannot be read has an error instead. */
const isReading = (list: ReturnType<typeof useEvery>): boolean => !list.isError && (list.isPending || list.hasNextPage)

/** The person's own agents in this workspace. With `all`, every member's agents for a workspace manager. */
export const useWorkspaceAgents = (all = false) => {
  const { account, workspace, can } = useSession()
  const manages = can('workspace.manage')
  const mine = useEvery(grantsQuery)
  const everyone = useEvery({ ...workspaceGrantsQuery, enabled: all && manages })
  const own = rowsOf(mine)
    .filter((grant) => grant.workspace_id === workspace.id && isLive(grant))
    .map((grant): Agent => ({ ...grant, account_id: account.id, own: true }))
  const others = rowsOf(everyone)
    .filter((grant) => grant.account_id !== account.id && isLive(grant))
    .map((grant): Agent => ({ ...grant, own: false }))
  return {
    own: own.sort(newestUse),
    others: others.sort(newestUse),
    isPending: isReading(mine) || (all && manages && isReading(everyone)),
    error: mine.error ?? everyone.error,
    retry: () => void (mine.isError ? mine : everyone).refetch(),
    manages,
  }
}

export type LimitUse = { key: string; name: string; period: string; used: string; limit: string; href: string }

type Limited = { [Name in 'daily_limit_minor' | 'monthly_limit_minor' | 'total_limit_minor']?: string | null | undefined }

const limitUses = (
  key: string,
  name: string,
  href: string,
  limits: Limited,
  usage: { today_minor: string; month_minor: string; total_minor?: string },
): LimitUse[] =>
  (
    [
      ['day', t('time.day_today'), limits.daily_limit_minor, usage.today_minor],
      ['month', t('time.this_month'), limits.monthly_limit_minor, usage.month_minor],
      ['total', t('period.in_all'), limits.total_limit_minor, usage.total_minor ?? '0'],
    ] as const
  ).flatMap(([part, period, limit, used]) => (limit ? [{ key: `${key} ${part}`, name, period, used, limit, href }] : []))

export const limitUseOfPolicy = (policy: Schemas['SpendingPolicy']): LimitUse[] =>
  policy.usage ? limitUses(policy.id, policy.name, `/policies/${policy.id}`, policy, policy.usage) : []

export const limitUseOfGrant = (grant: Schemas['Grant'], href: string): LimitUse[] =>
  grant.revoked_at === null ? limitUses(grant.id, grant.label, href, grant.spending_controls, grant.usage) : []
