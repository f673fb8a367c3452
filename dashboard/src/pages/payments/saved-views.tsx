import { useLocation, useSearch } from 'wouter'
import { t } from '../../lib/language.ts'
import { useSession } from '../../shell/session.tsx'
import { Tabs } from '../../ui/page.tsx'
import { tPay } from './texts.ts'

/** Frequently used lists. Each is a URL, like every set of filters. */
export const SavedViews = () => {
  const { account } = useSession()
  const parameters = new URLSearchParams(useSearch())
  // A payment open beside the list is not part of a view.
  parameters.delete('open')
  const search = decodeURIComponent(parameters.toString())
  const [location] = useLocation()
  const views: { label: string; path?: string; search: string }[] = [
    { label: t('view.all'), search: '' },
    { label: t('view.refused'), path: '/payments/refused', search: '' },
    { label: tPay('view.problems'), search: 'status=unknown,failed,returned' },
    { label: tPay('view.mine'), search: `person=${account.id}` },
  ]
  const tabs = views.map(({ label, path = '/payments', search: own }) => ({
    label,
    href: own === '' ? path : `${path}?${own}`,
    current: location === path && (path !== '/payments' || search === own),
  }))
  return <Tabs label={tPay('views')} tabs={tabs} />
}
