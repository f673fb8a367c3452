import type { ReactNode } from 'react'
import type { Schemas } from '../../api/queries.ts'
import { readableMessage } from '../../lib/field-words.ts'
import { t } from '../../lib/language.ts'
import { timeOfDay, timeWithDay } from '../../lib/time.ts'
import { moneyText, share, shortMoney } from '../../lib/words.ts'
import type { Session } from '../../shell/session.tsx'
import type { IconName } from '../../ui/icon.tsx'

type AnyNeed = Schemas['Attention']['needs'][number]
/** Excludes deposits in suspense, which are shown above with everything that waits for administrators of the service. */
type ShownNeed = Exclude<AnyNeed, { kind: 'deposits_in_suspense' }>
export const isShownHere = (need: AnyNeed): need is ShownNeed => need.kind !== 'deposits_in_suspense'
export type Need = {
  key: string
  tone: 'bad' | 'warn' | 'info'
  icon: IconName
  title: string
  note: ReactNode
  /** Link to the place that helps, or the agent to freeze. */
  action: { label: string; href: string } | { freeze: Schemas['Payment']['initiated_by'] }
  more?: { label: string; href: string }
}

export type Reader = { currency: string; administers: boolean; can: Session['can']; mayFreeze: (accountId: string) => boolean }
/** `canResolve`: whether this reader can resolve the need: by a freeze, a limit, another number, or as an administrator. */
type PresentedNeed = Need & { canResolve: boolean }

/** Words for a need. A new kind does not compile without words; an older page shows no need of a newer service. */
export const presentNeed = (need: ShownNeed, { currency, administers, can, mayFreeze }: Reader): PresentedNeed | null => {
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
        note: readableMessage(last.message),
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

export const percent = (used: string, limit: string): string => `${Math.floor(share(used, limit) * 100)} %`
