import type { PolicyWireField } from '../../../src/policy/fields.ts'
import english from '../../../texts/fields.en.json' with { type: 'json' }
import { railFacts, rails } from './rails.ts'
import { fullTime } from './time.ts'
import { capitalized } from './words.ts'

/** Labels of API fields. Messages of the service about a field are English sentences, so these labels are English too. */
const labels: Readonly<Record<PolicyWireField, string>> & Readonly<Record<string, string>> = english

/** Replacements for API terms that no page shows. */
const terms: readonly (readonly [term: RegExp, words: string])[] = [
  // The rest of the message already names the amount.
  [/(^|; )amount_minor: (?=[A-Z])/g, '$1'],
  // "the amount: must be more" → "the amount must be more"
  [/(^|; )([a-z_]+): (?=(must|is|may) )/g, '$1$2 '],
  [/: a multiple of 100 minor units/g, ''],
  [/whole units of [A-Z]{3}/g, 'whole shillings'],
  [/\bgrant that initiated the payment/g, `${labels.initiating_grant} the payment`],
]

/** Removes account ids, because pages show names of people instead. */
export const withoutIds = (message: string): string => message.replace(/ \(acc_[^)]*\)/, '')

/** Turns a message of the service into a sentence with field labels and times in the workspace's zone. */
export const readableMessage = (message: string): string =>
  capitalized(
    [...Object.entries(labels), ...rails.map((rail) => [rail, railFacts[rail].label] as const)].reduce(
      (text, [field, words]) => text.replaceAll(new RegExp(`["“]?\\b${field}\\b["”]?`, 'g'), words),
      terms.reduce(
        (text, [term, words]) => text.replace(term, words),
        withoutIds(message).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, fullTime),
      ),
    ),
  )
