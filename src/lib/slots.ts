type Options = { size: number; waiting: number; full?: () => Error }

/** `waiting` more wait their turn; any further one fails at once, with `full`. */
export const createSlots = ({ size, waiting, full = () => new Error('too much of this is under way') }: Options) => {
  let running = 0
  const queue: (() => void)[] = []
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running < size) running += 1
    else if (queue.length >= waiting) throw full()
    // A task that ends passes its slot on: `running` stays as it is.
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
