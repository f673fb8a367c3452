/**
 * A pure function of a text that keeps its latest results. Callers share what it returns, and do not change it. When `most` results are
 * kept, all of them are forgotten: simpler than an order of use, and as good where few texts are asked for over and over.
 */
export const memoised = <Value>(make: (text: string) => Value, most = 4096): ((text: string) => Value) => {
  let known = new Map<string, Value>()
  return (text) => {
    const value = known.get(text)
    if (value !== undefined) return value
    if (known.size >= most) known = new Map()
    const created = make(text)
    known.set(text, created)
    return created
  }
}
