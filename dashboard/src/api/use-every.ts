import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Listed } from './queries.ts'

/** A list that is chosen from, or acted on as a whole: its further pages are read one after the other. */
export const useEvery = <Row>(query: Listed<Row>) => {
  const list = useInfiniteQuery(query)
  const { hasNextPage, isFetching, isError, fetchNextPage } = list
  useEffect(() => {
    // Several of one page may ask for the same.
    if (hasNextPage && !isFetching && !isError) void fetchNextPage({ cancelRefetch: false })
  }, [hasNextPage, isFetching, isError, fetchNextPage])
  return list
}
