import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { credentialQuery } from '../api/queries.ts'
import { type Key, t } from '../lib/language.ts'
import { readStored, writeStored } from '../lib/store.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { type Session, useSession } from './session.tsx'

export type NavItem = { href: string; label: string; icon: IconName; keys: string }

/** Reader for whom `isVisible` decides whether to show an entry. An entry without `isVisible` is shown to everyone. */
type Reader = Pick<Session, 'can' | 'seesBalance'> & { administers: boolean }
type Entry = Omit<NavItem, 'label'> & {
  group: 'main' | 'rules' | 'setup'
  name: Extract<Key, `nav.${string}`> extends `nav.${infer Name}` ? Name : never
  isVisible?: (reader: Reader) => boolean
}

const entries: readonly Entry[] = [
  { group: 'main', name: 'overview', href: '/', icon: 'overview', keys: 'g o' },
  { group: 'main', name: 'payments', href: '/payments', icon: 'payments', keys: 'g p' },
  { group: 'main', name: 'approvals', href: '/approvals', icon: 'approvals', keys: 'g a' },
  { group: 'main', name: 'agents', href: '/agents', icon: 'robot', keys: 'g e' },
  { group: 'main', name: 'beneficiaries', href: '/beneficiaries', icon: 'people', keys: 'g b' },
  { group: 'main', name: 'topup', href: '/top-up', icon: 'topup', keys: 'g t', isVisible: ({ can }) => can('topup.create') },
  { group: 'main', name: 'history', href: '/history', icon: 'list', keys: 'g h', isVisible: ({ seesBalance }) => seesBalance },
  { group: 'main', name: 'statements', href: '/statements', icon: 'receipt', keys: 'g f' },
  { group: 'main', name: 'spending', href: '/spending', icon: 'chart', keys: 'g x', isVisible: ({ can }) => can('payment.read') },
  { group: 'rules', name: 'policies', href: '/policies', icon: 'policy', keys: 'g r' },
  { group: 'rules', name: 'mandates', href: '/mandates', icon: 'mandate', keys: 'g m' },
  { group: 'setup', name: 'developers', href: '/developers', icon: 'code', keys: 'g d' },
  { group: 'setup', name: 'workspace', href: '/workspace', icon: 'workspace', keys: 'g w' },
  { group: 'setup', name: 'account', href: '/account', icon: 'account', keys: 'g s' },
  {
    group: 'setup',
    name: 'reconciliation',
    href: '/reconciliation',
    icon: 'bank',
    keys: 'g c',
    isVisible: (by) => by.administers,
  },
]

export type Nav = Readonly<Record<Entry['group'] | 'all', readonly NavItem[]>>

/** Pages that this person can use in this workspace, so that navigation never leads to an error. */
export const useNav = (): Nav => {
  const { can, seesBalance } = useSession()
  const administers = useAdministers()
  const all = entries
    .filter(({ isVisible }) => isVisible?.({ can, seesBalance, administers }) ?? true)
    .map((entry) => ({ ...entry, label: t(`nav.${entry.name}`) }))
  const of = (group: Entry['group']) => all.filter((entry) => entry.group === group)
  return { main: of('main'), rules: of('rules'), setup: of('setup'), all }
}

export const isCurrent = (href: string, location: string): boolean =>
  href === '/' ? location === '/' : location === href || location.startsWith(`${href}/`)

const name = 'administers'

/** Whether this person administers the service. While loading, the last answer stored in this browser counts. */
export const useAdministers = (): boolean => {
  const { account } = useSession()
  const { data } = useQuery(credentialQuery)
  useEffect(() => {
    if (data?.is_admin) writeStored(name, data.account_id)
    else if (data && readStored(name) === data.account_id) writeStored(name, null)
  }, [data])
  return data ? data.is_admin : readStored(name) === account.id
}

/** Link shown to people with a single sign-in method: losing it would mean losing the account. */
export const BackupSignInLink = ({ onFollow }: { onFollow?: () => void }) => {
  const { account } = useSession()
  if (account.identities.length > 1) return null
  return (
    <Link href="/account" className="nav-link" {...(onFollow && { onClick: onFollow })}>
      <Icon name="alert" />
      {t('nav.second_way')}
    </Link>
  )
}
