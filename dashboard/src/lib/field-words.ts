import type { PolicyWireField } from '../../../src/policy/fields.ts'
import english from '../../../texts/fields.en.json' with { type: 'json' }
import { railFacts, rails } from './rails.ts'
import { fullTime } from './time.ts'
import { capitalized } from './words.ts'

/** The labels of the API's field names. The service's messages about a field are English sentences, so their labels are English too. */
const labels: Readonly<Record<PolicyWireField, string>> & Readonly<Record<string, string>> = english

/** Terms of the API that no page has. */
const terms: readonly (readonly [term: RegExp, words: string])[] = [
  // The amount is named by what is said of it.
  [/(^|; )amount_minor: (?=[A-Z])/g, '$1'],
  // "the amount: must be more" → "the amount must be more"
  [/(^|; )([a-z_]+): (?=(must|is|may) )/g, '$1$2 '],
  [/: a multiple of 100 minor units/g, ''],
  [/whole units of [A-Z]{3}/g, 'whole shillings'],
  [/\bgrant that initiated the payment/g, `${labels.initiating_grant} the payment`],
]

/** Pages name people, not accounts. */
export const withoutIds = (message: string): string => message.replace(/ \(acc_[^)]*\)/, '')

/** A message of the service as a sentence with labels in place of field names, and times in the workspace's zone. */
export const plainWords = (message: string): string =>
  capitalized(
    [...Object.entries(labels), ...rails.map((rail) => [rail, railFacts[rail].label] as const)].reduce(
      (text, [field, words]) => text.replaceAll(new RegExp(`["“]?\\b${field}\\b["”]?`, 'g'), words),
      terms.reduce(
        (text, [term, words]) => text.replace(term, words),
        withoutIds(message).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, fullTime),
      ),
    ),
  )
