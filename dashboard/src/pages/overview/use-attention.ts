import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { attentionQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { now } from '../../lib/clock.ts'
import { plainWords } from '../../lib/field-words.ts'
import { ofGrant } from '../../lib/limits.ts'
import { countWords } from '../../lib/list-words.ts'
import { moneyText, share, shortMoney, sumMinor } from '../../lib/money.ts'
import { fullTime, localDate, timeOfDay } from '../../lib/time.ts'
import { useAdministers } from '../../shell/nav-items.ts'
import { type Session, useSession } from '../../shell/session.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { useWorkspaceAgents } from '../agents/use-agents.ts'
import { subjectWords } from '../approvals/decided-words.ts'

type ApiNeed = Schemas['Attention']['needs'][number]
export type Need = {
  key: string
  tone: 'bad' | 'warn' | 'info'
  icon: IconName
  title: string
  note: ReactNode
  /** Where to look, or for an agent how to stop it. */
  action:
    | { label: string; href: string }
    | { freeze: { id: string; label: string; own: boolean; by: Schemas['Payment']['initiated_by'] } }
  more?: { label: string; href: string }
}

const nearlyUsed = 0.8

const ofUnknown = (need: Extract<ApiNeed, { kind: 'unknown_payments' }>, currency: string, administers: boolean): Need => ({
  key: 'unknown',
  tone: 'warn',
  icon: 'alert',
  title: `${countWords(need.count, 'payment')} without a known outcome`,
  note: `${moneyText(need.amount_minor, currency)} stays held until it is known. Nothing is sent twice.`,
  action: {
    label: administers ? 'End it' : 'See it',
    href: administers
      ? '/reconciliation/unknown'
      : need.count === 1
        ? `/payments/${need.payment_id}`
        : '/payments?status=unknown',
  },
})

/** `mayStop`: whether this reader may freeze the agent of an account. */
type MayStop = (accountId: string) => { own: boolean; allowed: boolean }

const ofRepeated = (need: Extract<ApiNeed, { kind: 'repeated_payments' }>, currency: string, mayStop: MayStop): Need => {
  const { by, beneficiary } = need
  const list = `/payments?beneficiary=${beneficiary.id}`
  const { own, allowed } = mayStop(by.account_id)
  return {
    key: `repeated ${beneficiary.id} ${need.amount_minor} ${by.grant_id}`,
    tone: 'bad',
    icon: 'payments',
    title: `${need.count} payments of ${shortMoney(need.amount_minor, currency)} to ${beneficiary.display_name}`,
    note: `${by.label === null ? 'All alike' : `All by ${by.label}`}, ${timeOfDay(need.first_at)} to ${timeOfDay(need.last_at)}.`,
    ...(by.grant_id === null || !allowed
      ? { action: { label: 'See them', href: list } }
      : {
          action: { freeze: { id: by.grant_id, label: by.label ?? 'This agent', own, by } },
          more: { label: 'See them', href: list },
        }),
  }
}

const ofRefused = (need: Extract<ApiNeed, { kind: 'refused_payments' }>, currency: string): Need => {
  const { by, last, count } = need
  const payee = last.beneficiary ? ` to ${last.beneficiary.display_name}` : ''
  return {
    key: `refused ${by.account_id} ${by.grant_id}`,
    tone: 'warn',
    icon: 'cross',
    title:
      count === 1
        ? `${shortMoney(last.amount_minor, currency)}${payee} was refused${by.label ? ` for ${by.label}` : ''}`
        : `${count} payments were refused${by.label ? ` for ${by.label}` : ''}`,
    note: plainWords(last.message),
    action: {
      label: 'See why',
      href: by.grant_id === null ? `/payments/refused?person=${by.account_id}` : `/payments/refused?agent=${by.grant_id}`,
    },
  }
}

const ofLimit = (need: Extract<ApiNeed, { kind: 'limit_nearly_used' }>, currency: string): Need => ({
  key: `limit ${need.policy_id} ${need.period}`,
  tone: 'info',
  icon: 'policy',
  title: `${need.name}: ${Math.floor(share(need.used_minor, need.limit_minor) * 100)} % of the ${need.period === 'day' ? 'daily' : 'monthly'} limit is used`,
  note: `${moneyText(need.used_minor, currency)} of ${moneyText(need.limit_minor, currency)}`,
  action: { label: 'Edit limit', href: `/policies/${need.policy_id}` },
})

const ofOtherNames = ({ count, beneficiary, reported_name: name }: Extract<ApiNeed, { kind: 'names_differ' }>): Need => ({
  key: 'names',
  tone: 'warn',
  icon: 'people',
  title:
    count === 1
      ? `The number of ${beneficiary.display_name} belongs to another name`
      : `The numbers of ${count} beneficiaries belong to other names`,
  note: `${count === 1 ? 'The' : `${beneficiary.display_name}: the`} payment method reports ${name ?? 'another name'}. Ask for the right number before you pay.`,
  action: { label: 'See it', href: count === 1 ? `/beneficiaries/${beneficiary.id}` : '/beneficiaries?names=other' },
})

const ofSuspense = (need: Extract<ApiNeed, { kind: 'deposits_in_suspense' }>, currency: string): Need => ({
  key: 'suspense',
  tone: 'info',
  icon: 'topup',
  title: `${countWords(need.count, 'deposit')} of ${moneyText(need.amount_minor, currency)} could not be booked`,
  note: `The oldest arrived on ${fullTime(need.oldest_at)}. The money waits in suspense.`,
  action: { label: 'Assign', href: '/reconciliation' },
})

/** An exhaustive list: a kind that the service adds does not compile until it has its words. */
const apiNeed = (need: ApiNeed, currency: string, mayStop: MayStop, administers: boolean): Need => {
  switch (need.kind) {
    case 'unknown_payments':
      return ofUnknown(need, currency, administers)
    case 'repeated_payments':
      return ofRepeated(need, currency, mayStop)
    case 'refused_payments':
      return ofRefused(need, currency)
    case 'names_differ':
      return ofOtherNames(need)
    case 'limit_nearly_used':
      return ofLimit(need, currency)
    case 'deposits_in_suspense':
      return ofSuspense(need, currency)
  }
}

/** Whether this reader can end it: by stopping an agent, by a limit, by another number, or as an administrator. A refusal is over already. */
const canEnd = (need: ApiNeed, { can }: Pick<Session, 'can'>, administers: boolean, mayStop: MayStop): boolean => {
  switch (need.kind) {
    case 'unknown_payments':
    case 'deposits_in_suspense':
      return administers
    case 'repeated_payments':
      return need.by.grant_id !== null && mayStop(need.by.account_id).allowed
    case 'names_differ':
      return can('beneficiary.manage')
    case 'limit_nearly_used':
      return can('policy.manage')
    case 'refused_payments':
      return false
  }
}

/** What this person can end, decisions first, and what is worth a look: it may be for others to end, or over. The most urgent first in both. */
export const useNeeds = (): { needs: Need[]; looks: Need[] } => {
  const { account, workspace, currency, can } = useSession()
  const administers = useAdministers()
  const mayStop: MayStop = (accountId) => {
    const own = accountId === account.id
    return { own, allowed: own || can('workspace.manage') }
  }
  const { data } = useQuery(attentionQuery)
  const { forMe } = useInbox()
  const agents = useWorkspaceAgents()
  const noticed = (data?.needs ?? []).map((need) => ({
    ends: canEnd(need, { can }, administers, mayStop),
    need: apiNeed(need, currency, mayStop, administers),
  }))
  const [next] = forMe
  const approvals: Need[] = next
    ? [
        {
          key: 'approvals',
          tone: 'warn',
          icon: 'approvals',
          title: `${countWords(forMe.length, 'payment needs', 'payments need')} your approval`,
          note: `${subjectWords(next.approval)}${next.workspace.id === workspace.id ? '' : ` in ${next.workspace.name}`}`,
          action: {
            label: 'Review',
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
        title: `${name}: ${Math.floor(share(used, limit) * 100)} % of its limit ${period} is used`,
        note: `${moneyText(used, currency)} of ${moneyText(limit, currency)}`,
        action: { label: 'Raise limit', href },
      }),
    )
  return {
    needs: [...approvals, ...noticed.filter(({ ends }) => ends).map(({ need }) => need), ...ofAgents],
    looks: noticed.filter(({ ends }) => !ends).map(({ need }) => need),
  }
}

/** "KES 27,300 was spent in 19 payments since yesterday. 3 things need you." */
export const useMorningSentence = (): string | null => {
  const { data } = useQuery(attentionQuery)
  const { needs } = useNeeds()
  if (!data) return null
  const recent = data.by_day.filter(({ date }) => date >= localDate(now() - 86_400_000))
  const count = recent.reduce((sum, day) => sum + day.count, 0)
  const money = shortMoney(sumMinor(recent.map((day) => day.amount_minor)), data.currency)
  const went =
    count === 0 ? 'Nothing was spent since yesterday.' : `${money} was spent in ${countWords(count, 'payment')} since yesterday.`
  const quiet = needs.length === 0 ? 'Nothing needs you.' : `${countWords(needs.length, 'thing needs', 'things need')} you.`
  return `${went} ${quiet}`
}
