import { setImmediate as turn } from 'node:timers/promises'

/**
 * The items of a long list with their places, so many at a time. Between two portions the event loop serves whoever waits: a thousand items in
 * one turn would hold up every other request of the process.
 */
export async function* inPortions<T>(items: readonly T[], size: number): AsyncGenerator<[place: number, item: T][]> {
  for (let from = 0; from < items.length; from += size) {
    if (from > 0) await turn()
    yield items.slice(from, from + size).map((item, place) => [from + place, item])
  }
}
