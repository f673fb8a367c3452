/**
 * Records that are read again and again, unchanged. A shared record is never changed, and keeps what was made of it: its presentation, and
 * that one's JSON. So a list that is read twice is converted once, and still comes from the database every time.
 */
const kept = Symbol('kept')

type Kept = Map<unknown, { parts: readonly unknown[]; made: unknown }>

const freeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return
  for (const inner of Object.values(value)) freeze(inner)
  Object.freeze(value)
}

const keptBy = (value: unknown): Kept | undefined =>
  typeof value === 'object' && value !== null ? (Reflect.get(value, kept) as Kept | undefined) : undefined

/** Copies of a shared record (`{ ...record }`) are not shared. */
export const share = <Value extends object>(value: Value): Value => {
  Object.defineProperty(value, kept, { value: new Map() })
  freeze(value)
  return value
}

const areSame = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length &&
  some.every((part, at) => {
    const other = others[at]
    return Array.isArray(part) && Array.isArray(other) ? areSame(part, other) : Object.is(part, other)
  })

/**
 * A pure function of records, whose results are kept with the first one while that is shared, and shared themselves. Other parts are compared
 * by identity, as shared records and plain values are; lists by their elements.
 */
export const madeOnce = <Parts extends readonly [object, ...unknown[]], Made extends object>(
  make: (...parts: Parts) => Made,
): ((...parts: Parts) => Made) => {
  return (...parts) => {
    const memory = keptBy(parts[0])
    if (!memory) return make(...parts)
    const known = memory.get(make)
    if (known && areSame(known.parts, parts)) return known.made as Made
    const made = share(make(...parts))
    memory.set(make, { parts, made })
    return made
  }
}

/** What is made of a shared record is kept under `name`; of any other it is made each time. */
export const keptAs = <Made>(name: object, record: unknown, make: (record: unknown) => Made): Made => {
  const memory = keptBy(record)
  if (!memory) return make(record)
  const known = memory.get(name)
  if (known) return known.made as Made
  const made = make(record)
  memory.set(name, { parts: [], made })
  return made
}

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
