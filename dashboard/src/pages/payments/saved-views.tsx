import { Link, useLocation, useSearch } from 'wouter'

export type SavedView = { label: string; path?: string; search: string }

/** Lists that people come back to. Each is an address, as every filter is. */
export const savedViews = (accountId: string): readonly SavedView[] => [
  { label: 'All', search: '' },
  { label: 'Refused', path: '/payments/refused', search: '' },
  { label: 'Problems', search: 'status=unknown,failed,returned' },
  { label: 'Mine', search: `person=${accountId}` },
]

export const SavedViews = ({ views }: { views: readonly SavedView[] }) => {
  const parameters = new URLSearchParams(useSearch())
  // The payment that is open beside the list belongs to no view.
  parameters.delete('open')
  const search = decodeURIComponent(parameters.toString())
  const [location] = useLocation()
  return (
    <nav className="tabs" aria-label="Views of payments">
      {views.map(({ label, path = '/payments', search: own }) => (
        <Link
          key={label}
          href={own === '' ? path : `${path}?${own}`}
          aria-current={location === path && (path !== '/payments' || search === own) ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
