import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useInbox } from '../api/use-inbox.ts'
import { takeArrival } from '../lib/arrival.ts'
import { useShortcuts } from '../lib/shortcuts.ts'
import { Palette } from '../palette/palette.tsx'
import { Icon } from '../ui/icon.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Attention } from './attention.tsx'
import { BottomBar } from './bottom-bar.tsx'
import { ConnectionBar } from './connection-bar.tsx'
import { FrozenBanner } from './frozen-banner.tsx'
import { isCurrent, type NavItem, useNav } from './nav-items.ts'
import { PushOffer } from './push-offer.tsx'
import { SandboxBadge } from './sandbox-badge.tsx'
import { SecondWay } from './second-way.tsx'
import { useSession } from './session.tsx'
import { WorkspaceMenu } from './workspace-menu.tsx'

const ShortcutHelp = lazy(async () => ({ default: (await import('./shortcut-help.tsx')).ShortcutHelp }))

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

const firstField = ':is(.main form, .main search) :is(input, select, textarea)[autofocus]'

/** After a change of page the focus moves to the new page's content, unless the page has focused a field. */
const useArrival = (location: string) => {
  const main = useRef<HTMLElement>(null)
  const last = useRef('')
  useEffect(() => {
    if (last.current === location) return
    const arrived = last.current !== '' || takeArrival()
    last.current = location
    // What the page itself has focused stays focused.
    if (main.current?.contains(document.activeElement) && document.querySelector(firstField)) return
    if (arrived) scrollTo(0, 0)
    if (arrived) main.current?.focus({ preventScroll: true })
  }, [location])
  return main
}

const usePaletteKey = (open: () => void) => {
  const latest = useRef(open)
  latest.current = open
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

export const Shell = ({ children }: { children: ReactNode }) => {
  const { can } = useSession()
  const nav = useNav()
  const [location, navigate] = useLocation()
  const [open, setOpen] = useState<'help' | 'palette' | null>(null)
  const close = () => setOpen(null)
  const waiting = useInbox().forMe.length
  const main = useArrival(location)
  const search = () => setOpen('palette')
  const help = () => setOpen('help')
  usePaletteKey(search)
  useShortcuts({
    ...Object.fromEntries(nav.all.map(({ keys, href }) => [keys, () => navigate(href)])),
    ...(can('payment.create') && { n: () => navigate('/payments/new') }),
    '/': search,
    '?': help,
  })
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <Attention waiting={waiting} />
      <aside className="sidebar">
        <WorkspaceMenu />
        <button type="button" className="search-button" onClick={search}>
          <Icon name="search" size={16} />
          <span className="grow">Search</span>
          <kbd>Ctrl K</kbd>
        </button>
        <nav className="nav" aria-label="Main">
          <NavLinks items={nav.main} waiting={waiting} />
          <p className="nav-title">Rules</p>
          <NavLinks items={nav.rules} waiting={waiting} />
          <p className="nav-title">Set up</p>
          <NavLinks items={nav.setup} waiting={waiting} />
        </nav>
        <div className="sidebar-foot">
          <SecondWay />
          <p className="sidebar-badge">
            <SandboxBadge />
          </p>
          <AccountMenu onHelp={help} up />
        </div>
      </aside>
      <header className="topbar">
        <WorkspaceMenu />
        <SandboxBadge />
        <AccountMenu onHelp={help} compact />
      </header>
      <main className="main" id="main" ref={main} tabIndex={-1}>
        <FrozenBanner />
        <PushOffer />
        {children}
      </main>
      <BottomBar waiting={waiting} onSearch={search} />
      <ConnectionBar />
      <Suspense fallback={null}>{open === 'help' && <ShortcutHelp onClose={close} />}</Suspense>
      {open === 'palette' && <Palette onClose={close} />}
    </div>
  )
}
