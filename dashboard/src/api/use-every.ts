import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type Listed, rowsOf } from './queries.ts'

/** Loads every page of a list in sequence, for selects and bulk actions. `isEnough` stops early. */
export const useEvery = <Row>(query: Listed<Row>, isEnough: (rows: readonly Row[]) => boolean = () => false) => {
  const list = useInfiniteQuery(query)
  const isIncomplete = list.hasNextPage && !isEnough(rowsOf(list))
  const { isFetching, isError, fetchNextPage } = list
  useEffect(() => {
    // Another component may be loading the same list, so its request is not cancelled.
    if (isIncomplete && !isFetching && !isError) void fetchNextPage({ cancelRefetch: false })
  }, [isIncomplete, isFetching, isError, fetchNextPage])
  return list
}
