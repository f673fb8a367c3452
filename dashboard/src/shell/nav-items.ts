import type { IconName } from '../ui/icon.tsx'

export type NavItem = { href: string; label: string; icon: IconName; keys: string }

export const mainNav: readonly NavItem[] = [
  { href: '/', label: 'Overview', icon: 'overview', keys: 'g o' },
  { href: '/payments', label: 'Payments', icon: 'payments', keys: 'g p' },
  { href: '/approvals', label: 'Approvals', icon: 'approvals', keys: 'g a' },
  { href: '/agents', label: 'Agents', icon: 'robot', keys: 'g e' },
  { href: '/beneficiaries', label: 'Beneficiaries', icon: 'people', keys: 'g b' },
  { href: '/top-up', label: 'Top up', icon: 'topup', keys: 'g t' },
  { href: '/history', label: 'History', icon: 'list', keys: 'g h' },
]

export const ruleNav: readonly NavItem[] = [
  { href: '/policies', label: 'Policies', icon: 'policy', keys: 'g r' },
  { href: '/mandates', label: 'Mandates', icon: 'mandate', keys: 'g m' },
]

export const setupNav: readonly NavItem[] = [
  { href: '/developers', label: 'Developers', icon: 'code', keys: 'g d' },
  { href: '/workspace', label: 'Workspace', icon: 'workspace', keys: 'g w' },
  { href: '/account', label: 'Account', icon: 'account', keys: 'g s' },
]

export const allNav = [...mainNav, ...ruleNav, ...setupNav]

export const isCurrent = (href: string, location: string): boolean =>
  href === '/' ? location === '/' : location === href || location.startsWith(`${href}/`)
