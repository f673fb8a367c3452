import { invalidFields } from '../lib/errors.ts'
import { repeatedName } from '../lib/repeated-name.ts'

const maxDepth = 16

/** Text that no database and no log can store: NUL, and surrogates without their other half. */
export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

const check = (value: unknown, path: string, depth: number): void => {
  if (depth > maxDepth) throw invalidFields({ path: path || 'body', message: 'is nested too deeply' })
  if (typeof value === 'string' && !isStorable(value))
    throw invalidFields({ path: path || 'body', message: 'has characters that cannot be stored' })
  if (typeof value !== 'object' || value === null) return
  for (const [key, entry] of Object.entries(value)) {
    const at = path ? `${path}.${key}` : key
    // A name that careless copying code would treat as the object's prototype.
    if (key === '__proto__') throw invalidFields({ path: at, message: 'is not a known field' })
    if (!isStorable(key)) throw invalidFields({ path: path || 'body', message: 'has a name that cannot be stored' })
    check(entry, at, depth + 1)
  }
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidFields({ path: 'body', message: 'must be valid JSON' })
  }
}

/** JSON that can be stored and that all parsers read in the same way: a body, or a field of a form. Throws 400. */
export const readJson = (text: string): unknown => {
  const value = parseJson(text)
  check(value, '', 0)
  const repeated = repeatedName(text)
  if (repeated !== undefined) throw invalidFields({ path: repeated, message: 'is given more than once' })
  return value
}
