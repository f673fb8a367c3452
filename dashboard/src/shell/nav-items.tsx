import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { credentialQuery } from '../api/queries.ts'
import { keepStored, readStored } from '../lib/store.ts'
import { Icon, type IconName } from '../ui/button.tsx'
import { type Session, useSession } from './session.tsx'

export type NavItem = { href: string; label: string; icon: IconName; keys: string }

/** For whom a page is more than a refusal. An item without it is for everyone. */
type Reader = Pick<Session, 'can' | 'ownsBalance'> & { administers: boolean }
type Entry = NavItem & { group: 'main' | 'rules' | 'setup'; isFor?: (reader: Reader) => boolean }

const entries: readonly Entry[] = [
  { group: 'main', href: '/', label: 'Overview', icon: 'overview', keys: 'g o' },
  { group: 'main', href: '/payments', label: 'Payments', icon: 'payments', keys: 'g p' },
  { group: 'main', href: '/approvals', label: 'Approvals', icon: 'approvals', keys: 'g a' },
  { group: 'main', href: '/agents', label: 'Agents', icon: 'robot', keys: 'g e' },
  { group: 'main', href: '/beneficiaries', label: 'Beneficiaries', icon: 'people', keys: 'g b' },
  { group: 'main', href: '/top-up', label: 'Top up', icon: 'topup', keys: 'g t', isFor: ({ can }) => can('topup.create') },
  { group: 'main', href: '/history', label: 'History', icon: 'list', keys: 'g h', isFor: ({ ownsBalance }) => ownsBalance },
  { group: 'main', href: '/statements', label: 'Statements', icon: 'receipt', keys: 'g f' },
  { group: 'main', href: '/spending', label: 'Spending', icon: 'chart', keys: 'g x', isFor: ({ can }) => can('payment.read') },
  { group: 'rules', href: '/policies', label: 'Policies', icon: 'policy', keys: 'g r' },
  { group: 'rules', href: '/mandates', label: 'Mandates', icon: 'mandate', keys: 'g m' },
  { group: 'setup', href: '/developers', label: 'Developers', icon: 'code', keys: 'g d' },
  { group: 'setup', href: '/workspace', label: 'Workspace', icon: 'workspace', keys: 'g w' },
  { group: 'setup', href: '/account', label: 'Account', icon: 'account', keys: 'g s' },
  {
    group: 'setup',
    href: '/reconciliation',
    label: 'Reconciliation',
    icon: 'bank',
    keys: 'g c',
    isFor: ({ administers }) => administers,
  },
]

export type Nav = Readonly<Record<Entry['group'] | 'all', readonly NavItem[]>>

/** The pages that this person can use here: navigation never leads to a refusal. */
export const useNav = (): Nav => {
  const { can, ownsBalance } = useSession()
  const administers = useAdministers()
  const all = entries.filter(({ isFor }) => isFor?.({ can, ownsBalance, administers }) ?? true)
  const of = (group: Entry['group']) => all.filter((entry) => entry.group === group)
  return { main: of('main'), rules: of('rules'), setup: of('setup'), all }
}

export const isCurrent = (href: string, location: string): boolean =>
  href === '/' ? location === '/' : location === href || location.startsWith(`${href}/`)

const name = 'administers'

/** Whether this person administers the service. Until it is answered, what was last answered in this browser counts. */
export const useAdministers = (): boolean => {
  const { account } = useSession()
  const { data } = useQuery(credentialQuery)
  useEffect(() => {
    if (data?.is_admin) keepStored(name, data.account_id)
    else if (data && readStored(name) === data.account_id) keepStored(name, null)
  }, [data])
  return data ? data.is_admin : readStored(name) === account.id
}

/** Until there is a second sign-in method: who loses the only one loses the account. */
export const SecondWay = ({ onFollow }: { onFollow?: () => void }) => {
  const { account } = useSession()
  if (account.identities.length > 1) return null
  return (
    <Link href="/account" className="nav-link" {...(onFollow && { onClick: onFollow })}>
      <Icon name="alert" />
      Add a second way in
    </Link>
  )
}
