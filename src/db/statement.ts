/** A statement with a name is parsed and planned once a connection: hot paths have names, and the name is its text's only owner. */
export type Statement = { readonly name: string; readonly text: string }

/** Rows of one statement. A text without a name is planned each time that it runs. */
export type Query = <Row extends object>(statement: Statement | string, values?: readonly unknown[]) => Promise<Row[]>

const known = new Map<string, Statement>()

/** Two texts under one name would make the second one fail on every connection that has seen the first. */
export const statement = (name: string, text: string): Statement => {
  const same = known.get(name)
  if (same && same.text !== text) throw new Error(`two statements are called ${name}`)
  const made = same ?? { name, text }
  known.set(name, made)
  return made
}

/** Every named statement of the modules that are loaded: for the test that asks Postgres how it would run each. */
export const namedStatements = (): readonly Statement[] => [...known.values()]
