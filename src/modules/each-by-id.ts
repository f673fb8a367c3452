import type { Uuid } from '../lib/ids.ts'

/** Does one thing to each of several rows, once, in the order of their ids: two requests about the same rows lock them in the same order. */
export const eachById = async <Done>(ids: readonly Uuid[], act: (id: Uuid) => Promise<Done>): Promise<Done[]> => {
  const done: Done[] = []
  for (const id of [...new Set(ids)].sort()) done.push(await act(id))
  return done
}
