import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { Page, Tabs } from '../../ui/page.tsx'

const tabs = [
  { href: '/developers', label: 'API keys' },
  { href: '/developers/events', label: 'Events' },
  { href: '/developers/requests', label: 'Requests' },
] as const

export const DevelopersLayout = ({ children, actions }: { children: ReactNode; actions?: ReactNode }) => {
  const [location] = useLocation()
  return (
    <Page
      title="Developers"
      lead={
        <>
          Keys, events and requests. Calls can be tried in the reference. <Link href="/agents">Agents</Link> ·{' '}
          <a href="/docs">API reference</a>
        </>
      }
      actions={actions}
    >
      <Tabs label="Developers" tabs={tabs.map((tab) => ({ ...tab, current: location === tab.href }))} />
      {children}
    </Page>
  )
}
