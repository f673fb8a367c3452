import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Failure } from './failure.tsx'
import { SkeletonRows } from './layout.tsx'

export type PageOf<Item> = { data: Item[]; next_cursor: string | null }

type ListingProps<Item> = {
  query: UseInfiniteQueryResult<InfiniteData<PageOf<Item>>>
  empty: ReactNode
  rows?: number
  /** Show the first page only, without a button for more. */
  whole?: boolean
  children: (items: Item[]) => ReactNode
}

/** A paged list in each of its states: loading, failed, empty, with more pages. */
export const Listing = <Item,>({ query, empty, rows = 5, whole = false, children }: ListingProps<Item>) => {
  if (query.isPending) return <SkeletonRows rows={rows} />
  if (query.isError)
    return (
      <div className="card-body">
        <Failure error={query.error} onRetry={() => void query.refetch()} />
      </div>
    )
  const items = query.data.pages.flatMap((page) => page.data)
  if (items.length === 0) return empty
  return (
    <>
      {children(items)}
      {query.hasNextPage && !whole && (
        <div className="card-footer">
          <Button variant="quiet" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  )
}
