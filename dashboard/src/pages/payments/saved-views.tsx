import { Link, useSearch } from 'wouter'

export type SavedView = { label: string; search: string }

/** Lists that people come back to. Each is an address, as every filter is. */
export const savedViews = (accountId: string): readonly SavedView[] => [
  { label: 'All', search: '' },
  { label: 'Odd', search: 'status=unknown,failed,returned' },
  { label: 'Mine', search: `person=${accountId}` },
]

export const SavedViews = ({ views }: { views: readonly SavedView[] }) => {
  const search = decodeURIComponent(useSearch())
  return (
    <nav className="tabs" aria-label="Views of payments">
      {views.map(({ label, search: own }) => (
        <Link key={label} href={own === '' ? '/payments' : `/payments?${own}`} aria-current={search === own ? 'page' : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  )
}
