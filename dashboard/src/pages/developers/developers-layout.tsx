import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { t } from '../../lib/language.ts'
import { Page, Tabs } from '../../ui/page.tsx'
import { richDev, tDev } from './texts.ts'

const tabs = [
  { href: '/developers', label: tDev('keys') },
  { href: '/developers/events', label: tDev('events') },
  { href: '/developers/requests', label: tDev('requests') },
] as const

export const DevelopersLayout = ({ children, actions }: { children: ReactNode; actions?: ReactNode }) => {
  const [location] = useLocation()
  return (
    <Page
      title={t('nav.developers')}
      lead={richDev('developers', {
        link: <Link href="/agents">{t('nav.agents')}</Link>,
        link2: <a href="/docs">{t('api_reference')}</a>,
      })}
      actions={actions}
    >
      <Tabs label={t('nav.developers')} tabs={tabs.map((tab) => ({ ...tab, current: location === tab.href }))} />
      {children}
    </Page>
  )
}
