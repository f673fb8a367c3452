export type Page<T> = { data: T[]; next_cursor: string | null }

/** A list that fetches pages when the loop reaches them: `for await (const payment of client.payments.list())`. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #read: (cursor: string | undefined) => Promise<Page<T>>

  constructor(read: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#read = read
  }

  /** Reads one page: the first one, or the one after `cursor`. */
  page(cursor?: string): Promise<Page<T>> {
    return this.#read(cursor)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let cursor: string | undefined
    do {
      const { data, next_cursor } = await this.#read(cursor)
      yield* data
      cursor = next_cursor ?? undefined
    } while (cursor !== undefined)
  }

  /** Reads at most `limit` items. */
  async toArray(limit: number): Promise<T[]> {
    const items: T[] = []
    if (limit > 0)
      for await (const item of this) {
        items.push(item)
        if (items.length >= limit) break
      }
    return items
  }
}
