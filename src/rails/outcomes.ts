import { asList, asRecord, field, textField } from './fields.ts'

export type Outcome = 'paid' | 'pending' | 'returned' | 'ended'

const words: Readonly<Record<Outcome, string>> = {
  paid: 'success successful successfully succeeded completed complete settled paid acsc accc',
  pending:
    'pending processing in_progress initiated authorized authorised queued submitted accepted received new acsp actc accp acwc pdng rcvd',
  returned: 'returned reversed refunded bounced returned_to_sender',
  /** These words do not always prove that no money moved. The provider's documentation decides. */
  ended: 'failed failure declined rejected cancelled canceled expired rjct canc',
}

const outcomes = new Map(
  (Object.keys(words) as Outcome[]).flatMap((outcome) => words[outcome].split(' ').map((word) => [word, outcome] as const)),
)

/** The outcome for a provider's status word, in any spelling. Undefined if the word proves nothing. */
export const outcomeOf = (word: string): Outcome | undefined =>
  outcomes.get(
    word
      .trim()
      .toLowerCase()
      .replace(/[\s_-]+/g, '_')
      .replace(/[.!]+$/, ''),
  )

/** The only record in a list, or the only one with `value` in a field of `names`. Undefined if several match. */
export const recordIn = (given: unknown, names: readonly string[], value: string): unknown => {
  const records = asList(given).filter((each) => asRecord(each) !== undefined)
  const named = records.filter((each) => names.some((name) => textField(each, name) === value))
  const meant = named.length > 0 ? named : records
  return meant.length === 1 ? meant[0] : undefined
}

/** Pairs may be a list of `{Key, Value}`, a single pair, or an object of names. Names may repeat, and values may be missing. */
export const pairIn = (given: unknown, nameField: 'Key' | 'Name', name: string): unknown => {
  for (const item of asList(given)) {
    const value = textField(item, nameField) === name ? field(item, 'Value') : field(item, name)
    if (value !== undefined && value !== null && value !== '') return value
  }
  return undefined
}
