import pg from 'pg'
import type { Statement } from './statement.ts'
import { parserOf, type RawRows, type UnreadRow } from './types.ts'

// pg describes the answer of every statement each time that it runs: Postgres sends the name and type of each column, and the driver makes
// objects of them. For a record of forty columns that is more than the record itself. What a prepared statement answers never changes on
// one connection, so it is described there once.

type Field = { name: string; dataTypeID: number }
type Described = { names: readonly string[]; types: readonly number[] }
type Answered<Answer> = (error: Error | null | undefined, answer?: Answer) => void

declare module 'pg' {
  interface Query {
    prepare(connection: Connection): void
  }
}

const nothing: Described = { names: [], types: [] }

/** Connections share what is equal. */
const descriptions = new Map<string, Described>()
const describe = (fields: readonly Field[]): Described => {
  const key = fields.map(({ name, dataTypeID }) => `${dataTypeID} ${name}`).join('\n')
  const known = descriptions.get(key)
  if (known) return known
  const made = { names: fields.map(({ name }) => name), types: fields.map(({ dataTypeID }) => dataTypeID) }
  descriptions.set(key, made)
  return made
}

const describedBy = new WeakMap<pg.Connection, Map<string, Described>>()
const describedOn = (connection: pg.Connection): Map<string, Described> => {
  const known = describedBy.get(connection)
  if (known) return known
  const made = new Map<string, Described>()
  describedBy.set(connection, made)
  return made
}

const undescribed = new WeakMap<pg.Connection, pg.Connection>()
/** The same connection, which does not ask what a statement answers. */
const withoutDescription = (connection: pg.Connection): pg.Connection => {
  const known = undescribed.get(connection)
  if (known) return known
  const made = Object.create(connection, { describe: { value: () => undefined } }) as pg.Connection
  undescribed.set(connection, made)
  return made
}

/** How rows are answered: as they come, or as objects. */
type Build<Answer> = (rows: UnreadRow[], described: Described) => Answer

/** One run of a prepared statement, with what pg's client asks of its own class of queries. */
class NamedQuery<Answer> {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
  /** The client sets it: it also ends the wait for an answer. */
  callback: Answered<Answer> | undefined
  #described: Described | undefined
  #isDescribed = false
  #known: Map<string, Described> | undefined
  readonly #rows: UnreadRow[] = []
  readonly #build: Build<Answer>

  constructor({ name, text }: Statement, values: unknown[], build: Build<Answer>) {
    this.name = name
    this.text = text
    this.values = values
    this.callback = undefined
    this.#build = build
  }

  prepare(connection: pg.Connection): void {
    this.#known = describedOn(connection)
    this.#described = this.#known.get(this.name)
    this.#isDescribed = this.#described !== undefined
    Reflect.apply(pg.Query.prototype.prepare, this, [this.#isDescribed ? withoutDescription(connection) : connection])
  }
  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#described = describe(fields)
  }
  handleDataRow(row: UnreadRow): void {
    this.#rows.push(row)
  }
  handleCommandComplete(): void {
    if (!this.#isDescribed) this.#known?.set(this.name, this.#described ?? nothing)
  }
  handleError(error: Error): void {
    this.callback?.(error)
  }
  handleReadyForQuery(): void {
    try {
      this.callback?.(null, this.#build(this.#rows, this.#described ?? nothing))
    } catch (error) {
      this.callback?.(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

// The client asks for its own class where statements are sent without waiting. That class's constructor is not called: it copies what it is
// given property by property and makes an emitter of events, a third of what a statement costs here.
Object.setPrototypeOf(NamedQuery.prototype, pg.Query.prototype)

const raw: Build<RawRows> = (rows, { types }) => ({ rows, types })

const objects: Build<object[]> = (rows, { names, types }) => {
  const parsers = types.map(parserOf)
  return rows.map(({ fields }) => {
    const made: Record<string, unknown> = {}
    for (let at = 0; at < names.length; at += 1) {
      const text = fields[at] as string | null
      made[names[at] as string] = text === null ? null : parsers[at]?.(text)
    }
    return made
  })
}

/** A pool or one of its connections. */
export type Target = Pick<pg.Pool, 'query'>

type Submit = (query: unknown, values: undefined, answered: Answered<unknown>) => void

const run = async <Answer>(target: Target, query: NamedQuery<Answer>): Promise<Answer> => {
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const submit = target.query as Submit
      Reflect.apply(submit, target, [
        query,
        undefined,
        (error: Error | null | undefined, answer: Answer) => (error ? reject(error) : resolve(answer)),
      ])
    })
  } catch (error) {
    // Where it was read from the socket says nothing: where it was asked for does.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  }
}

export const runNamed = (target: Target, statement: Statement, values: unknown[]): Promise<RawRows> =>
  run(target, new NamedQuery(statement, values, raw))

export const runNamedObjects = <Row extends object>(target: Target, statement: Statement, values: unknown[]): Promise<Row[]> =>
  run(target, new NamedQuery(statement, values, objects as Build<Row[]>))
