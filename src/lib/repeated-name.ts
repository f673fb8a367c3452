/** Texts (with the colon behind a name), and where objects and lists begin and end: a comma or a number decides nothing. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g

/**
 * The first name that an object in this JSON text has twice. Parsers differ in which of two amounts counts, and a person may have approved
 * the other one; of two values in a receipt, that which a reader's tool does not show. The text must be valid JSON. Undefined where there is none.
 */
export const repeatedName = (json: string): string | undefined => {
  const open: Set<string>[] = []
  for (const [token, colon] of json.matchAll(tokens)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (colon !== undefined) {
      const name: unknown = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1))
      const names = open.at(-1)
      if (typeof name !== 'string' || names?.has(name)) return String(name)
      names?.add(name)
    }
  }
  return undefined
}
