import { isolated } from '../../../src/lib/text.ts'

/** Fields with text that people and programs wrote. All other fields, such as a text to sign, stay unchanged. */
const written = new Set([
  'display_name',
  'legal_name',
  'beneficiary',
  'beneficiary_name',
  'given_name',
  'reported_name',
  'sender_name',
  'client_name',
  'name',
  'label',
  'grant_label',
  'narrative',
  'description',
  'reason',
  'account_reference',
  'payment_reference',
  'email',
])

/**
 * Isolates stored texts in an answer from the text around them: right-to-left letters would otherwise move an amount beside a
 * name. `api` does this to every answer except a receipt, and the stream to every event, so that pages need not.
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

/** Removes the isolation marks from a request, because a form sends back the texts that it was filled with. */
export const withoutIsolation = <Data>(data: Data): Data => {
  if (typeof data === 'string') return data.replace(marks, '') as Data
  if (Array.isArray(data)) return data.map(withoutIsolation) as Data
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, withoutIsolation(value)])) as Data
}
