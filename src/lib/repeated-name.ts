/** A comma or a number decides nothing. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g

/** Parsers differ in which of two values counts, and a person may have approved the other one. The text must be valid JSON. */
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
