const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g

/**
 * The first name that an object of this JSON text gives twice. Which of two amounts counts is read differently by different parsers,
 * and one of them may have been the one that a person approved. The text must be valid JSON.
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
