import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient, type QueryKey } from '@tanstack/react-query'

/**
 * Invalidating restarts only the requests of shown queries that have data. Any other answer in flight would count as fresh,
 * although it may be older than the change. Callers may await that answer, so it is marked as outdated only on arrival.
 */
export class PagesClient extends QueryClient {
  override invalidateQueries<Key extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<Key>,
    options?: InvalidateOptions,
  ): Promise<void> {
    const awaited = this.getQueryCache()
      .findAll({ ...filters, fetchStatus: 'fetching' })
      .filter((query) => !query.isActive() || query.state.data === undefined)
    const read = super.invalidateQueries(filters, options)
    for (const { promise, queryKey } of awaited) {
      const outdate = () => super.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false })
      void promise?.then(outdate, () => undefined)
    }
    return read
  }
}
