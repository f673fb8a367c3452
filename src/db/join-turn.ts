import { between } from './records.ts'
import type { Query, Statement } from './statement.ts'

export type JoinOptions<Key, Value> = {
  /** Returns an answer for every key, in the same order. */
  query: (keys: readonly Key[]) => Promise<readonly Value[]>
  /** How many queries may be under way at once: later keys wait, and are sent together in the next query. */
  inFlight: number
  maxKeys: number
  /**
   * `turn`: what is asked for in one turn of the event loop is asked together. `flush`: what one run of code asks for, in time to leave with the
   * other statements that it issues on its connection (`corkUntilTick`).
   */
  until?: 'turn' | 'flush'
  /** What tells two keys apart, for questions that change nothing: of those that are alike one is asked, and all share its answer. */
  identify?: (key: Key) => string
}

/** Each key once, and for every key which of those it is. */
const withoutRepetitions = <Key>(keys: readonly Key[], identify: (key: Key) => string): { distinct: Key[]; places: number[] } => {
  const placeOf = new Map<string, number>()
  const distinct: Key[] = []
  const places = keys.map((key) => {
    const identity = identify(key)
    const known = placeOf.get(identity)
    if (known !== undefined) return known
    const place = distinct.push(key) - 1
    placeOf.set(identity, place)
    return place
  })
  return { distinct, places }
}

let due: (() => void)[] = []

/** What different queries wait for leaves together: on one connection in one system call. */
const atEndOfTurn = (send: () => void): void => {
  if (due.push(send) > 1) return
  setImmediate(() => {
    const sends = due
    due = []
    for (const each of sends) each()
  })
}

type Waiting<Key, Value> = { key: Key; resolve: (answers: Value) => void; reject: (error: unknown) => void }

/**
 * One query for all keys that are asked for in one turn of the event loop, or while earlier queries are under way. Every answer is read
 * after its key was asked for: nothing is cached for the next query.
 */
export const joinTurn = <Key, Value>(options: JoinOptions<Key, Value>): ((key: Key) => Promise<Value>) => {
  const { query, inFlight, maxKeys, until = 'turn', identify } = options
  let waiting: Waiting<Key, Value>[] = []
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
      const batch = waiting.slice(0, maxKeys)
      waiting = waiting.slice(maxKeys)
      underWay += 1
      void answer(batch)
    }
  }
  const answersTo = async (keys: readonly Key[]): Promise<readonly Value[]> => {
    if (!identify || keys.length === 1) return query(keys)
    const { distinct, places } = withoutRepetitions(keys, identify)
    const answers = await query(distinct)
    return places.map((place) => answers[place] as Value)
  }
  const answer = async (batch: readonly Waiting<Key, Value>[]) => {
    try {
      const answers = await answersTo(batch.map(({ key }) => key))
      for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Value)
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

export type RecordsOptions<Key, Row> = {
  query: Query
  statement: Statement
  /** The arrays of the statement's keys, followed by its other parameters. */
  values: (keys: readonly Key[]) => unknown[]
  read: (record: string) => Row
} & Pick<JoinOptions<Key, Row>, 'until' | 'identify'>

/** Looks up one key; the keys of one turn of the event loop, or of one flush, are sent together. */
export const joinedRecords = <Key, Row>(options: RecordsOptions<Key, Row>): ((key: Key) => Promise<readonly Row[]>) => {
  const { query, statement, values, read, until = 'turn', identify } = options
  return joinTurn<Key, readonly Row[]>({
    inFlight: 2,
    maxKeys: 128,
    until,
    ...(identify && { identify }),
    query: async (keys) => {
      const [answer] = await query<{ records: string | null }>(statement, values(keys))
      const groups: Row[][] = keys.map(() => [])
      if (!answer?.records) return groups
      for (const record of answer.records.split(between.records)) {
        const end = record.indexOf(between.fields)
        groups[Number(record.slice(0, end)) - 1]?.push(read(record.slice(end + 1)))
      }
      return groups
    },
  })
}
