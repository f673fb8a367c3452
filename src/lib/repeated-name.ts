/** Strings (with the colon after a key) and brackets. Commas and numbers are not needed to find a repeated key. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g

/** The first repeated key in an object of valid JSON. Parsers pick different values, and a person may have approved the other. */
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
