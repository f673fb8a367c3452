class SlotsFullError extends Error {
  override name = 'SlotsFullError'
}

type Options = { size: number; waiting: number; full?: () => Error }

/** Runs up to `size` tasks at once and queues up to `waiting` more. Further tasks fail immediately with `full`. */
export const createSlots = ({ size, waiting, full = () => new SlotsFullError('too much of this is under way') }: Options) => {
  let running = 0
  const queue: (() => void)[] = []
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running < size) running += 1
    else if (queue.length >= waiting) throw full()
    // A finished task passes its slot to the next one, so `running` does not change.
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running -= 1
    }
  }
}
