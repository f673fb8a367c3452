import { parse } from 'node:querystring'

type Values = Record<string, unknown>

const bracketed = /^([^[\]]+)\[([^[\]]+)\]$/

/**
 * A query string's parameters; `metadata[invoice]=17` is `{metadata: {invoice: '17'}}`. Objects without a prototype, because callers choose
 * the names.
 */
export const parseQuery = (text: string): Values => {
  const values = parse(text) as Values
  if (!text.includes('[') && !/%5b/i.test(text)) return values
  const folded = Object.create(null) as Values
  for (const [name, value] of Object.entries(values)) {
    const [, base, key] = bracketed.exec(name) ?? []
    if (base === undefined || key === undefined) {
      folded[name] = value
      continue
    }
    const inner = folded[base]
    const object =
      typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Values) : (Object.create(null) as Values)
    object[key] = value
    folded[base] = object
  }
  return folded
}
