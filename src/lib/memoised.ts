/** Caches results of a pure function. Callers share them and must not change them. At `maxResults`, the cache is cleared. */
export const memoised = <Value>(make: (text: string) => Value, maxResults = 4096): ((text: string) => Value) => {
  let known = new Map<string, Value>()
  return (text) => {
    const value = known.get(text)
    if (value !== undefined) return value
    if (known.size >= maxResults) known = new Map()
    const created = make(text)
    known.set(text, created)
    return created
  }
}
