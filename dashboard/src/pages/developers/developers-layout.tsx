import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { Page } from '../../ui/page.tsx'

const tabs = [
  { href: '/developers', label: 'API keys' },
  { href: '/developers/events', label: 'Events' },
  { href: '/developers/requests', label: 'Requests' },
  { href: '/developers/try', label: 'Try a call' },
] as const

export const DevelopersLayout = ({ children, actions }: { children: ReactNode; actions?: ReactNode }) => {
  const [location] = useLocation()
  return (
    <Page
      title="Developers"
      lead={
        <>
          Keys, events, requests and calls to try. <Link href="/agents">Agents</Link> · <a href="/docs">API reference</a>
        </>
      }
      actions={actions}
    >
      <nav className="tabs" aria-label="Developers">
        {tabs.map(({ href, label }) => (
          <Link key={href} href={href} aria-current={location === href ? 'page' : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      {children}
    </Page>
  )
}
