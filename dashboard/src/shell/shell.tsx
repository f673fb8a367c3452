import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { type Schemas, workspacesQuery } from '../api/queries.ts'
import { isForMe, useInbox } from '../api/use-inbox.ts'
import { subjectWords } from '../lib/approval-subject.ts'
import { notifyChoices, usePageKey, useShortcuts } from '../lib/choices.ts'
import { t } from '../lib/language.ts'
import { takeFocusRequest } from '../lib/page-state.ts'
import { useStore } from '../lib/store.ts'
import { waitingCount } from '../lib/title.ts'
import { shortMoney } from '../lib/words.ts'
import type { LiveEvent } from '../live/connection.ts'
import { Live } from '../live/live.tsx'
import { EarlyPalette } from '../palette/palette-frame.tsx'
import { Crash } from '../ui/crash.tsx'
import { Icon } from '../ui/icon.tsx'
import { lazyPart } from '../ui/lazy.tsx'
import { TextNotice } from '../ui/page.tsx'
import { announce } from '../ui/toast.tsx'
import { AccountMenu, WorkspaceMenu } from './account-menu.tsx'
import { BottomBar } from './bottom-bar.tsx'
import { ConnectionBar } from './connection-bar.tsx'
import { BackupSignInLink, isCurrent, type NavItem, useNav } from './nav-items.tsx'
import { useOpenIn } from './open-in.ts'
import { PushOffer } from './push-offer.tsx'
import { permissionsOf, useSession } from './session.tsx'
import { SandboxBadge } from './single-page.tsx'

const Palette = lazyPart(async () => (await import('../palette/palette.tsx')).Palette, EarlyPalette)
const ShortcutHelp = lazyPart(async () => (await import('./shortcut-help.tsx')).ShortcutHelp)

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
          <span className="visually-hidden">{t('nav.waiting')}</span>
        </span>
      )}
    </Link>
  ))
}

const autofocusedField = ':is(.main form, .main search) :is(input, select, textarea)[autofocus]'

/** Moves the focus to the new page's content, unless the page has focused a field. */
const useFocusOnNavigation = (location: string) => {
  const main = useRef<HTMLElement>(null)
  const last = useRef('')
  useEffect(() => {
    if (last.current === location) return
    const arrived = last.current !== '' || takeFocusRequest()
    last.current = location
    // Keeps the focus in a field that the page has focused.
    if (main.current?.contains(document.activeElement) && document.querySelector(autofocusedField)) return
    if (arrived) scrollTo(0, 0)
    if (arrived) main.current?.focus({ preventScroll: true })
  }, [location])
  return main
}

export const Shell = ({ children }: { children: ReactNode }) => {
  const { can } = useSession()
  const nav = useNav()
  const [location, navigate] = useLocation()
  const [open, setOpen] = useState<'help' | 'palette' | null>(null)
  const close = () => setOpen(null)
  const waiting = useInbox().forMe.length
  const main = useFocusOnNavigation(location)
  const search = () => setOpen('palette')
  const help = () => setOpen('help')
  usePageKey((event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
    event.preventDefault()
    search()
  })
  useShortcuts({
    ...Object.fromEntries(nav.all.map(({ keys, href }) => [keys, () => navigate(href)])),
    ...(can('payment.create') && { n: () => navigate('/payments/new') }),
    '/': search,
    '?': help,
  })
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        {t('nav.skip')}
      </a>
      <Announcer waiting={waiting} />
      <aside className="sidebar no-print">
        <WorkspaceMenu />
        <button type="button" className="search-button" onClick={search}>
          <Icon name="search" size={16} />
          <span className="grow">{t('search')}</span>
          <kbd>Ctrl K</kbd>
        </button>
        <nav className="nav" aria-label={t('nav.main')}>
          <NavLinks items={nav.main} waiting={waiting} />
          <p className="nav-title">{t('nav.rules')}</p>
          <NavLinks items={nav.rules} waiting={waiting} />
          <p className="nav-title">{t('nav.set_up')}</p>
          <NavLinks items={nav.setup} waiting={waiting} />
        </nav>
        <div className="sidebar-foot">
          <BackupSignInLink />
          <p className="sidebar-badge">
            <SandboxBadge />
          </p>
          <AccountMenu onHelp={help} up />
        </div>
      </aside>
      <header className="topbar no-print">
        <WorkspaceMenu />
        <SandboxBadge />
        <AccountMenu onHelp={help} compact />
      </header>
      <main className="main" id="main" ref={main} tabIndex={-1}>
        <FrozenBanner />
        <PushOffer />
        <Crash at={location}>{children}</Crash>
      </main>
      <BottomBar waiting={waiting} onSearch={search} />
      <ConnectionBar />
      {open === 'help' && <ShortcutHelp onClose={close} />}
      {open === 'palette' && <Palette onClose={close} />}
    </div>
  )
}

/** Shows on every page that the account or the workspace is frozen, or the membership suspended. */
const FrozenBanner = () => {
  const { workspace, account, membership, can } = useSession()
  const notes = [
    account.status === 'frozen' && (
      <TextNotice key="account" tone="warn" title={t('frozen.account')}>
        {t('frozen.account_note')}
      </TextNotice>
    ),
    workspace.status === 'frozen' && (
      <TextNotice key="workspace" tone="info" title={t('frozen.workspace')}>
        {t('frozen.workspace_note')} {can('workspace.manage') && <Link href="/workspace">{t('unfreeze')}</Link>}
      </TextNotice>
    ),
    membership.status === 'suspended' && (
      <TextNotice key="membership" tone="warn" title={t('frozen.member')}>
        {t('frozen.member_note')}
      </TextNotice>
    ),
  ].filter(Boolean)
  return notes.length > 0 ? (
    <div className="stack-s" style={{ marginBottom: '20px' }}>
      {notes}
    </div>
  ) : null
}

const isApproval = (data: Record<string, unknown>): data is Schemas['Approval'] => 'payment' in data && 'decisions' in data

/** Follows the event stream, and announces approvals that wait for this person, and a balance that is too low. */
const Announcer = ({ waiting }: { waiting: number }) => {
  const { account, workspace, currency } = useSession()
  const { badge } = useStore(notifyChoices)
  const client = useQueryClient()
  const openIn = useOpenIn()
  const [location] = useLocation()

  useEffect(() => {
    waitingCount.set(badge ? waiting : 0)
    return () => waitingCount.set(0)
  }, [badge, waiting])

  const onEvent = async (event: LiveEvent) => {
    const { missing_minor: missing } = event.data
    if (event.type === 'balance.short' && typeof missing === 'string')
      announce(t('needs.short', { amount: shortMoney(missing, currency) }), 'bad', {
        label: t('see_it'),
        run: () => openIn(event.workspace_id ?? workspace.id, '/'),
      })
    if (event.type !== 'approval.requested' || !isApproval(event.data) || !isForMe(event.data, account.id)) return
    // An event may arrive before the list of workspaces.
    const list = await client.ensureQueryData(workspacesQuery).catch(() => undefined)
    const view = list?.data.find((candidate) => candidate.workspace.id === event.workspace_id)
    if (!view || !permissionsOf(view.membership).has('approval.decide')) return
    const path = `/approvals/${event.data.id}`
    const open = () => openIn(view.workspace.id, path)
    const what = subjectWords(event.data)
    if (notifyChoices.get().toast && location !== '/approvals')
      announce(t('needs_your_approval', { what }), 'info', { label: t('review'), run: open })
  }
  return <Live accountId={account.id} onEvent={onEvent} />
}
