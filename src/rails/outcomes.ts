import { asList, asRecord, field, textField } from './fields.ts'

export type Outcome = 'paid' | 'pending' | 'returned' | 'ended'

const words: Readonly<Record<Outcome, string>> = {
  paid: 'success successful successfully succeeded completed complete settled paid acsc accc',
  pending:
    'pending processing in_progress initiated authorized authorised queued submitted accepted received new acsp actc accp acwc pdng rcvd',
  returned: 'returned reversed refunded bounced returned_to_sender',
  /** Not always proof that nothing moved: the provider's documentation decides. */
  ended: 'failed failure declined rejected cancelled canceled expired rjct canc',
}

const outcomes = new Map(
  (Object.keys(words) as Outcome[]).flatMap((outcome) => words[outcome].split(' ').map((word) => [word, outcome] as const)),
)

/** The outcome behind a provider's word, in any spelling. Undefined for a word that proves nothing. */
export const outcomeOf = (word: string): Outcome | undefined =>
  outcomes.get(
    word
      .trim()
      .toLowerCase()
      .replace(/[\s_-]+/g, '_')
      .replace(/[.!]+$/, ''),
  )

/** The only record of a list, or the only one with `value` under one of `names`. Undefined if several match. */
export const recordIn = (given: unknown, names: readonly string[], value: string): unknown => {
  const records = asList(given).filter((each) => asRecord(each) !== undefined)
  const named = records.filter((each) => names.some((name) => textField(each, name) === value))
  const meant = named.length > 0 ? named : records
  return meant.length === 1 ? meant[0] : undefined
}

/** Name and value pairs are a list of `{Key, Value}`, one of them, or an object of names. Names repeat; values may be missing. */
export const pairIn = (given: unknown, nameField: 'Key' | 'Name', name: string): unknown => {
  for (const item of asList(given)) {
    const value = textField(item, nameField) === name ? field(item, 'Value') : field(item, name)
    if (value !== undefined && value !== null && value !== '') return value
  }
  return undefined
}
