import { isolated } from '../../../src/lib/text.ts'

/** Fields with text that people and programs wrote. Other fields, such as a text to sign, stay byte for byte. */
const written = new Set([
  'display_name',
  'legal_name',
  'beneficiary_name',
  'name',
  'label',
  'narrative',
  'description',
  'reason',
  'account_reference',
  'email',
])

/**
 * Isolates stored texts in an answer from the text around them: letters written from the right would otherwise move an amount
 * beside a name. One place covers all pages, present and future.
 */
export const isolateTexts = <Data>(data: Data): Data => {
  if (Array.isArray(data)) return data.map(isolateTexts) as Data
  if (typeof data !== 'object' || data === null) return data
  const entries = Object.entries(data).map(([name, value]) => [
    name,
    typeof value === 'string' && written.has(name) ? isolated(value) : isolateTexts(value),
  ])
  return Object.fromEntries(entries)
}

const marks = /[\u2068\u2069]/g

/** Removes those marks from a request: a form sends back the texts that it was filled with. */
export const withoutIsolation = <Data>(data: Data): Data => {
  if (typeof data === 'string') return data.replace(marks, '') as Data
  if (Array.isArray(data)) return data.map(withoutIsolation) as Data
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, withoutIsolation(value)])) as Data
}
