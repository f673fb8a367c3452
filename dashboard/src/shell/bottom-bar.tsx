import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { t } from '../lib/language.ts'
import { Dialog } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'
import { BackupSignInLink, isCurrent, type NavItem, useNav } from './nav-items.tsx'
import { useSession } from './session.tsx'

const pay: NavItem = { href: '/payments/new', label: t('nav.pay'), icon: 'plus', keys: 'n' }

/** "Pay" has its own entry: while it is current, "Payments" is not. */
const isCurrentTab = ({ href }: NavItem, location: string): boolean =>
  isCurrent(href, location) && !(href === '/payments' && location === pay.href)

/** The phone's navigation: the most used pages, and a menu with the rest. */
export const BottomBar = ({ waiting, onSearch }: { waiting: number; onSearch: () => void }) => {
  const { can } = useSession()
  const [location] = useLocation()
  const [open, setOpen] = useState(false)
  const { all } = useNav()
  const byHref = (href: string): NavItem[] => all.filter((item) => item.href === href)
  const tabs = [
    ...byHref('/'),
    ...byHref('/payments'),
    ...(can('payment.create') ? [pay] : byHref('/beneficiaries')),
    ...byHref('/approvals'),
  ]
  const further = all.filter((item) => !tabs.includes(item))
  const elsewhere = further.some(({ href }) => isCurrent(href, location))
  return (
    <>
      <nav className="bottombar no-print" aria-label={t('nav.main')}>
        {tabs.map((item) => (
          <Link key={item.href} href={item.href} className="tab" aria-current={isCurrentTab(item, location) ? 'page' : undefined}>
            <Icon name={item.icon} size={20} />
            {item.label}
            {item.href === '/approvals' && waiting > 0 && <span className="nav-count">{waiting}</span>}
          </Link>
        ))}
        <button type="button" className="tab" aria-current={elsewhere ? 'page' : undefined} onClick={() => setOpen(true)}>
          <Icon name="more" size={20} />
          {t('nav.more')}
        </button>
      </nav>
      {open && (
        <Dialog title={t('nav.more')} onClose={() => setOpen(false)}>
          <ul>
            <li>
              <button
                type="button"
                className="nav-link"
                onClick={() => {
                  setOpen(false)
                  onSearch()
                }}
              >
                <Icon name="search" />
                {t('search')}
              </button>
            </li>
            {further.map((item) => (
              <li key={item.href}>
                <Link
                  href={item.href}
                  className="nav-link"
                  aria-current={isCurrent(item.href, location) ? 'page' : undefined}
                  onClick={() => setOpen(false)}
                >
                  <Icon name={item.icon} />
                  {item.label}
                </Link>
              </li>
            ))}
            <li>
              <BackupSignInLink onFollow={() => setOpen(false)} />
            </li>
          </ul>
        </Dialog>
      )}
    </>
  )
}
