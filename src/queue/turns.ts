export type Turns = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Work of one name is done one after the other. What waits for one lock of the database would occupy a connection each: a busy account, or a client that
 * refreshes one grant many times, the whole pool.
 */
export const createTurns = (): Turns => {
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
