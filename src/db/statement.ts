import { hash } from 'node:crypto'

/**
 * A statement with a name is parsed and planned once for each connection: frequent statements have names, and each name belongs to one
 * text.
 */
export type Statement = { readonly name: string; readonly text: string; readonly lane: Lane }

/**
 * Which connection a statement outside of a transaction takes. `record`: the one that all requests share for lookups by an index, in which
 * a slow statement delays all later ones. `page`: a second one of that kind, for lists. `pool`: one of its own, for what reads many rows
 * or waits for a lock.
 */
export type Lane = 'record' | 'page' | 'pool'

/** Of a declared query. `joined`: by `record`, and what requests ask for in one turn of the event loop is one statement. */
export type QueryLane = Lane | 'joined'

/** The rows of one statement. A text without a name is planned each time that it runs. */
export type Query = <Row extends object>(statement: Statement | string, values?: readonly unknown[]) => Promise<Row[]>

const known = new Map<string, Statement>()

/** Postgres cuts longer names off: those of two forms of a statement could become one. */
const longestName = 63
const shortened = (name: string): string =>
  name.length <= longestName ? name : `${name.slice(0, longestName - 17)}~${hash('sha1', name).slice(0, 16)}`

/** With two texts under one name, the second one would fail on every connection that knows the first. */
export const statement = (fullName: string, text: string, lane: Lane = 'pool'): Statement => {
  const name = shortened(fullName)
  const existing = known.get(name)
  if (existing && existing.text !== text) throw new Error(`two statements are called ${name}`)
  const named = existing ?? { name, text, lane }
  known.set(name, named)
  return named
}

const declared = new Map<string, () => void>()

/** `build`: names the statements of a query that is built when it is first used. */
export const declareStatements = (name: string, build: () => void = () => undefined): void => {
  if (declared.has(name)) throw new Error(`two queries are called ${name}`)
  declared.set(name, build)
}

/** Every named statement of the modules that are loaded: for the test that asks Postgres for the plan of each. */
export const namedStatements = (): readonly Statement[] => {
  for (const build of declared.values()) build()
  return [...known.values()]
}
