/** Narrowing for a provider's JSON. Nothing here throws: a delivery may contain anything. */
export type JsonRecord = Readonly<Record<string, unknown>>

export const asRecord = (value: unknown): JsonRecord | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined

/** Own properties only, so that a body cannot reach `constructor` and the like. */
export const field = (value: unknown, name: string): unknown => {
  const record = asRecord(value)
  return record && Object.hasOwn(record, name) ? record[name] : undefined
}

/** Codes and ids come as strings or numbers; an empty one counts as missing. */
export const asText = (value: unknown): string | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return text === '' ? undefined : text
}

export const textField = (value: unknown, name: string): string | undefined => asText(field(value, name))

/** One, many or none: providers send a bare object instead of a list of one. */
export const asList = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : [value]
}

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
