import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient, type QueryKey } from '@tanstack/react-query'

/**
 * Outdated data is read again only if it is shown and was read before. For any other query, an answer in flight would count as
 * fresh, although it may be older than the change. Callers may await that answer, so it arrives, and is marked outdated at once.
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
