import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Listed } from './queries.ts'

/** Loads every page of a list in sequence, for selects and bulk actions. */
export const useEvery = <Row>(query: Listed<Row>) => {
  const list = useInfiniteQuery(query)
  const { hasNextPage, isFetching, isError, fetchNextPage } = list
  useEffect(() => {
    // Another component may be loading the same list, so its request is not cancelled.
    if (hasNextPage && !isFetching && !isError) void fetchNextPage({ cancelRefetch: false })
  }, [hasNextPage, isFetching, isError, fetchNextPage])
  return list
}
