import { hash } from 'node:crypto'

/** Parsed and planned once for each connection. Each name belongs to one text. */
export type Statement = { readonly name: string; readonly text: string; readonly lane: Lane }

/**
 * The connection of a statement outside of a transaction. `record`: shared by all requests, for lookups by an index; a slow statement delays all
 * later ones. `page`: a second one, for lists. `pool`: one of its own, for what reads many rows or waits for a lock.
 */
export type Lane = 'record' | 'page' | 'pool'

/** `joined`: by `record`, and what requests ask for in one turn of the event loop is one statement. */
export type QueryLane = Lane | 'joined'

/** A text without a name is planned each time that it runs. */
export type Query = <Row extends object>(statement: Statement | string, values?: readonly unknown[]) => Promise<Row[]>

const known = new Map<string, Statement>()

/** Postgres cuts longer names off. */
const longestName = 63
const shortened = (name: string): string =>
  name.length <= longestName ? name : `${name.slice(0, longestName - 17)}~${hash('sha1', name).slice(0, 16)}`

/** A second text under one name would fail on every connection that knows the first. */
export const nameStatement = (fullName: string, text: string, lane: Lane): Statement => {
  const name = shortened(fullName)
  const existing = known.get(name)
  if (existing && existing.text !== text) throw new Error(`two statements are called ${name}`)
  const named = existing ?? { name, text, lane }
  known.set(name, named)
  return named
}

/** Declares a query that is text. What is put into the text is the module's own and the same for every request: values are bound. */
export const statement =
  (name: string, lane: Lane = 'pool') =>
  (text: TemplateStringsArray, ...parts: readonly (string | number)[]): Statement =>
    nameStatement(name, String.raw({ raw: text }, ...parts).trimStart(), lane)

const declared = new Map<string, () => void>()

/** `build` names the statements of a query that is built when it is first used. */
export const declareStatements = (name: string, build: () => void = () => undefined): void => {
  if (declared.has(name)) throw new Error(`two queries are called ${name}`)
  declared.set(name, build)
}

/** Every named statement of the modules that are loaded: for the test of the plans. */
export const namedStatements = (): readonly Statement[] => {
  for (const build of declared.values()) build()
  return [...known.values()]
}
