import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { Icon } from '../ui/button.tsx'
import { Dialog } from '../ui/form.tsx'
import { isCurrent, type NavItem, SecondWay, useNav } from './nav-items.tsx'
import { useSession } from './session.tsx'

const pay: NavItem = { href: '/payments/new', label: 'Pay', icon: 'plus', keys: 'n' }

/** "Pay" has an entry of its own: while it is current, "Payments" is not. */
const isCurrentTab = ({ href }: NavItem, location: string): boolean =>
  isCurrent(href, location) && !(href === '/payments' && location === pay.href)

/** The navigation of a phone: the most used pages, and a menu with the rest. */
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
      <nav className="bottombar" aria-label="Main">
        {tabs.map((item) => (
          <Link key={item.href} href={item.href} className="tab" aria-current={isCurrentTab(item, location) ? 'page' : undefined}>
            <Icon name={item.icon} size={20} />
            {item.label}
            {item.href === '/approvals' && waiting > 0 && <span className="nav-count">{waiting}</span>}
          </Link>
        ))}
        <button type="button" className="tab" aria-current={elsewhere ? 'page' : undefined} onClick={() => setOpen(true)}>
          <Icon name="more" size={20} />
          More
        </button>
      </nav>
      {open && (
        <Dialog title="More" onClose={() => setOpen(false)}>
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
                Search
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
              <SecondWay onFollow={() => setOpen(false)} />
            </li>
          </ul>
        </Dialog>
      )}
    </>
  )
}
