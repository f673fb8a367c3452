import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient, type QueryKey } from '@tanstack/react-query'

/**
 * What is outdated is read again only where it is shown and was read before. An answer that is on its way to any other query would come as
 * fresh, though it may be older than what outdated it. It is let come, because someone may wait for it, and is out of date at once.
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
