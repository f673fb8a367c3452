export type SerialRunner = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Work of one name runs one after the other. In parallel, every task that waits for the same database lock would hold a
 * connection: a busy account, or a client that refreshes one grant many times, would take the whole pool.
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
