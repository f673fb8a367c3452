import { hash } from 'node:crypto'

/** Parsed and planned once per connection. Each name belongs to exactly one text. */
export type Statement = { readonly name: string; readonly text: string; readonly connection: Connection }

/**
 * The connection for a query outside a transaction. `record`: shared by all requests, for index lookups; a slow query delays all
 * later ones. `page`: a second shared connection, for lists. `pool`: exclusive, for reads of many rows or lock waits.
 */
export type Connection = 'record' | 'page' | 'pool'

/** `coalesced`: on `record`, with all requests of one event-loop turn in one query. */
export type ConnectionMode = Connection | 'coalesced'

/** A query without a name is planned each time it runs. */
export type Query = <Row extends object>(statement: Statement | string, values?: readonly unknown[]) => Promise<Row[]>

const known = new Map<string, Statement>()

/** Postgres truncates longer names. */
const longestName = 63
const shortened = (name: string): string =>
  name.length <= longestName ? name : `${name.slice(0, longestName - 17)}~${hash('sha1', name).slice(0, 16)}`

/** A name must have one text: a second text would fail on every connection that has already prepared the first. */
export const nameStatement = (fullName: string, text: string, connection: Connection): Statement => {
  const name = shortened(fullName)
  const existing = known.get(name)
  if (existing && existing.text !== text) throw new Error(`two statements are called ${name}`)
  const named = existing ?? { name, text, connection }
  known.set(name, named)
  return named
}

/** Declares an SQL query. Interpolated parts are constants of the module, the same for every request. Values are bound. */
export const statement =
  (name: string, connection: Connection = 'pool') =>
  (text: TemplateStringsArray, ...parts: readonly (string | number)[]): Statement =>
    nameStatement(name, String.raw({ raw: text }, ...parts).trimStart(), connection)

const declared = new Map<string, () => void>()

/** `build` names the statements of a query that is built at its first use. */
export const declareStatements = (name: string, build: () => void = () => undefined): void => {
  if (declared.has(name)) throw new Error(`two queries are called ${name}`)
  declared.set(name, build)
}

/** Returns every named statement of the loaded modules, for the test of query plans. */
export const namedStatements = (): readonly Statement[] => {
  for (const build of declared.values()) build()
  return [...known.values()]
}
