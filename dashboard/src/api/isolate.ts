import { isolated } from '../../../src/lib/text.ts'

/** Fields that hold what people and programs wrote. Others, as a text to sign, stay byte for byte. */
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
 * An answer whose stored texts are kept apart from what the pages write around them: letters that are written from the right would otherwise move
 * an amount that stands beside a name. In one place for all pages, also for those that will be written.
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

/** A request without those marks: a form sends back what it was filled with. */
export const withoutIsolation = <Data>(data: Data): Data => {
  if (typeof data === 'string') return data.replace(marks, '') as Data
  if (Array.isArray(data)) return data.map(withoutIsolation) as Data
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, withoutIsolation(value)])) as Data
}
