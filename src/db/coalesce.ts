export type CoalesceOptions<Key, Value> = {
  /** Returns one value per key, in the same order. */
  query: (keys: readonly Key[]) => Promise<readonly Value[]>
  /** Maximum number of concurrent queries. Later keys wait for the next query. */
  maxInFlight: number
  /** Maximum number of keys of one query. */
  maxKeys: number
  /** Default: the end of this turn of the event loop. */
  collectUntil?: 'end_of_turn' | 'next_microtask'
}

let queuedSends: (() => void)[] = []

/** Runs all sends of a turn in one callback, so that the driver writes them with one system call (`send-statement.ts`). */
const atEndOfTurn = (send: () => void): void => {
  if (queuedSends.push(send) > 1) return
  setImmediate(() => {
    const sends = queuedSends
    queuedSends = []
    for (const each of sends) each()
  })
}

export const endOfTurn = (): Promise<void> => new Promise(atEndOfTurn)

type Waiting<Key, Value> = { key: Key; resolve: (answers: Value) => void; reject: (error: unknown) => void }

/**
 * Runs one query for all keys requested in one turn or while earlier queries run. A query starts after its last key was requested,
 * so no caller gets an answer that is older than its request.
 */
export const coalesce = <Key, Value>(options: CoalesceOptions<Key, Value>): ((key: Key) => Promise<Value>) => {
  const { query, maxInFlight, maxKeys, collectUntil = 'end_of_turn' } = options
  const waiting: Waiting<Key, Value>[] = []
  let underWay = 0
  let scheduled = false

  const schedule = () => {
    if (scheduled || underWay >= maxInFlight) return
    scheduled = true
    if (collectUntil === 'next_microtask') queueMicrotask(send)
    else atEndOfTurn(send)
  }
  const send = () => {
    scheduled = false
    while (waiting.length > 0 && underWay < maxInFlight) {
      const batch = waiting.splice(0, maxKeys)
      underWay += 1
      void answer(batch)
    }
  }
  const answer = async (batch: readonly Waiting<Key, Value>[]) => {
    try {
      const answers = await query(batch.map(({ key }) => key))
      if (answers.length !== batch.length) throw new Error('a query for several keys did not answer each')
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Value)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      underWay -= 1
      if (waiting.length > 0) schedule()
    }
  }
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      schedule()
    })
}
