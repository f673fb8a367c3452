import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { isCurrent, mainNav, ruleNav, setupNav } from './nav-items.ts'

const shown = mainNav.slice(0, 4)
const further = [...mainNav.slice(4), ...ruleNav, ...setupNav]

/** On a phone: what is used most under the thumb, the rest one step away. */
export const BottomBar = ({ waiting }: { waiting: number }) => {
  const [location] = useLocation()
  const [open, setOpen] = useState(false)
  const elsewhere = further.some(({ href }) => isCurrent(href, location))
  return (
    <>
      <nav className="bottombar" aria-label="Main">
        {shown.map((item) => (
          <Link
            key={item.href}
            href={item.href}
            className="tab"
            aria-current={isCurrent(item.href, location) ? 'page' : undefined}
          >
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
          </ul>
        </Dialog>
      )}
    </>
  )
}
