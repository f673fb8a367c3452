export type CoalesceOptions<Key, Value> = {
  /** Returns one value per key, in the same order. */
  query: (keys: readonly Key[]) => Promise<readonly Value[]>
  /** Maximum number of concurrent queries. Later keys wait for the next query. */
  inFlight: number
  maxKeys: number
  /** `turn`: collects keys for one turn of the event loop. `flush`: collects until the next microtask. */
  until?: 'turn' | 'flush'
}

let queuedSends: (() => void)[] = []

/** Sends all queries of one event-loop turn with a single system call. */
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

/** Runs one query for all keys requested in one turn or while earlier queries run. It starts after its last key was requested. */
export const coalesce = <Key, Value>(options: CoalesceOptions<Key, Value>): ((key: Key) => Promise<Value>) => {
  const { query, inFlight, maxKeys, until = 'turn' } = options
  const waiting: Waiting<Key, Value>[] = []
  let underWay = 0
  let scheduled = false

  const schedule = () => {
    if (scheduled || underWay >= inFlight) return
    scheduled = true
    if (until === 'flush') queueMicrotask(send)
    else atEndOfTurn(send)
  }
  const send = () => {
    scheduled = false
    while (waiting.length > 0 && underWay < inFlight) {
      const batch = waiting.splice(0, maxKeys)
      underWay += 1
      void answer(batch)
    }
  }
  const answer = async (batch: readonly Waiting<Key, Value>[]) => {
    try {
      const answers = await query(batch.map(({ key }) => key))
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
