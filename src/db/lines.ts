import type { Joint, LineOptions, Lines, Statement, Tx } from './client.ts'
import type { JoinedForm, Prepared } from './prepare.ts'

/*
 * Requests that share a transaction and have nothing else in common are decided side by side, each group of related ones in a line of its own.
 * The lines take the same steps at about the same time, and a statement costs much before its first row: what the lines issue in one run of code
 * is kept until its end, and what several of them ask of one statement is asked together. The statements of one line stay in the order in which
 * it issued them, behind those of the lines that it follows; those of other lines commute, because the lines share no lock, or change different
 * things under it.
 */

type Kind = { kind: object; count: number; send: () => void }
type Step<Key, Value> = Kind & {
  asked: { key: Key; resolve: (value: Value) => void; reject: (error: unknown) => void }[]
}

/** As many keys as one statement has at most. */
const mostJoined = 64

const newStep = <Key, Value>(kind: object, ask: (keys: readonly Key[]) => Promise<readonly Value[]>): Step<Key, Value> => {
  const asked: Step<Key, Value>['asked'] = []
  const sendAll = async (): Promise<void> => {
    try {
      const values = await ask(asked.map(({ key }) => key))
      for (const [at, { resolve }] of asked.entries()) resolve(values[at] as Value)
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }
  return { kind, count: 0, asked, send: () => void sendAll() }
}

/** A step, among those that leave together. */
type Place = { of: readonly Kind[]; at: number }

type Own = {
  /** Runs a task when the running code has finished, before what was written to the connection leaves. */
  beforeLeaving: (task: () => void) => void
  /** A declared query with several values at once: a list of rows for each, in their order. */
  runEach: <V, Row>(form: JoinedForm<V, Row>, list: readonly V[]) => Promise<Row[][]>
}

export const createLines = (tx: Tx, { beforeLeaving, runEach }: Own): Lines => {
  let steps: Kind[] = []
  const flush = (): void => {
    const leaving = steps
    steps = []
    for (const { send } of leaving) send()
  }

  const lastOf = new WeakMap<Tx, () => Place>()
  const lastAmong = (behind: readonly Tx[]): Place => {
    const places = behind.flatMap((one) => lastOf.get(one)?.() ?? []).filter(({ of }) => of === steps)
    return { of: steps, at: Math.max(-1, ...places.map(({ at }) => at)) }
  }

  const line = ({ behind = [], amongOthers = false }: LineOptions = {}): Tx => {
    let last = lastAmong(behind)
    /** One line may ask twice in one reading; two changes of it could be of the same row. */
    const placeOf = (kind: object, writes: boolean): number => {
      const behind = last.of === steps ? last.at + (writes ? 1 : 0) : 0
      return steps.findIndex((step, place) => place >= behind && step.kind === kind && step.count < mostJoined)
    }
    const put = <Key, Value>(
      { writes, ask }: Pick<Joint<Key, Value>, 'writes'> & { ask: (keys: readonly Key[]) => Promise<readonly Value[]> },
      kind: object,
      key: Key,
    ): Promise<Value> =>
      new Promise((resolve, reject) => {
        if (steps.length === 0) beforeLeaving(flush)
        const known = placeOf(kind, writes)
        const at = known < 0 ? steps.push(newStep<Key, Value>(kind, ask)) - 1 : known
        const step = steps[at] as Step<Key, Value>
        step.asked.push({ key, resolve, reject })
        step.count += 1
        last = { of: steps, at }
      })
    const alone = <Value>(send: () => Promise<Value>): Promise<Value> =>
      put({ writes: true, ask: () => send().then((value) => [value]) }, send, undefined)
    const own: Tx = Object.create(tx, {
      amongOthers: { value: amongOthers },
      query: { value: (query: Statement | string, values?: readonly unknown[]) => alone(() => tx.query(query, values)) },
      run: {
        value: <V, Row>(query: Prepared<V, Row>, values: V): Promise<readonly Row[]> => {
          const form = query.joined?.(values)
          if (!form) return alone(() => tx.run(query, values))
          return put({ writes: false, ask: (list: readonly V[]) => runEach(form, list) }, form, values)
        },
      },
      join: {
        value: <Key, Value>(joint: Joint<Key, Value>, key: Key): Promise<Value> =>
          put({ writes: joint.writes, ask: (keys: readonly Key[]) => joint.ask(tx, keys) }, joint, key),
      },
    })
    lastOf.set(own, () => last)
    return own
  }
  return { line, flush }
}
