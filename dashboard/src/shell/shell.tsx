import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { approvalsQuery } from '../api/queries.ts'
import { useShortcuts } from '../lib/shortcuts.ts'
import { Live } from '../live/live.tsx'
import { Icon } from '../ui/icon.tsx'
import { AccountMenu } from './account-menu.tsx'
import { BottomBar } from './bottom-bar.tsx'
import { ConnectionBar } from './connection-bar.tsx'
import { FrozenBanner } from './frozen-banner.tsx'
import { allNav, isCurrent, mainNav, type NavItem, ruleNav, setupNav } from './nav-items.ts'
import { useSession } from './session.tsx'
import { ShortcutHelp } from './shortcut-help.tsx'
import { WorkspaceMenu } from './workspace-menu.tsx'

/** Approvals that wait for somebody; counted up to 25. */
export const useWaiting = (): number => {
  const { can } = useSession()
  const { data } = useInfiniteQuery({ ...approvalsQuery('pending'), enabled: can('approval.decide') })
  return data?.pages[0]?.data.length ?? 0
}

const NavLinks = ({ items, waiting }: { items: readonly NavItem[]; waiting: number }) => {
  const [location] = useLocation()
  return items.map((item) => (
    <Link
      key={item.href}
      href={item.href}
      className="nav-link"
      aria-current={isCurrent(item.href, location) ? 'page' : undefined}
    >
      <Icon name={item.icon} />
      {item.label}
      {item.href === '/approvals' && waiting > 0 && (
        <span className="nav-count">
          {waiting}
          <span className="visually-hidden"> waiting</span>
        </span>
      )}
    </Link>
  ))
}

/** After a change of page the reading begins at the new page, not at the link that led there. */
const useArrival = (location: string) => {
  const main = useRef<HTMLElement>(null)
  const last = useRef(location)
  useEffect(() => {
    if (last.current === location) return
    last.current = location
    scrollTo(0, 0)
    main.current?.focus({ preventScroll: true })
  }, [location])
  return main
}

export const Shell = ({ children }: { children: ReactNode }) => {
  const { account } = useSession()
  const [location, navigate] = useLocation()
  const [help, setHelp] = useState(false)
  const waiting = useWaiting()
  const main = useArrival(location)
  useShortcuts({
    ...Object.fromEntries(allNav.map(({ keys, href }) => [keys, () => navigate(href)])),
    n: () => navigate('/payments/new'),
    '?': () => setHelp(true),
  })
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <Live accountId={account.id} />
      <aside className="sidebar">
        <WorkspaceMenu />
        <nav className="nav" aria-label="Main">
          <NavLinks items={mainNav} waiting={waiting} />
          <p className="nav-title">Rules</p>
          <NavLinks items={ruleNav} waiting={waiting} />
          <p className="nav-title">Set up</p>
          <NavLinks items={setupNav} waiting={waiting} />
        </nav>
        <div className="sidebar-foot">
          <AccountMenu onHelp={() => setHelp(true)} up />
        </div>
      </aside>
      <header className="topbar">
        <WorkspaceMenu />
        <AccountMenu onHelp={() => setHelp(true)} compact />
      </header>
      <main className="main" id="main" ref={main} tabIndex={-1}>
        <FrozenBanner />
        {children}
      </main>
      <BottomBar waiting={waiting} />
      <ConnectionBar />
      {help && <ShortcutHelp onClose={() => setHelp(false)} />}
    </div>
  )
}
