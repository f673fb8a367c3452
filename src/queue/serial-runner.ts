export type SerialRunner = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Runs tasks with the same name one after another. In parallel, every task that waits for the same database lock would occupy a
 * connection, and a busy account or a client that repeatedly refreshes one grant would exhaust the pool.
 */
export const createSerialRunner = (): SerialRunner => {
  const last = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const before = last.get(name)
    const mine = before ? before.then(work, work) : work()
    last.set(name, mine)
    const end = () => {
      if (last.get(name) === mine) last.delete(name)
    }
    mine.then(end, end)
    return mine
  }
}
