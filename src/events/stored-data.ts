// A payment's event stores only the differences from the snapshot in the payment's row: a tenth of the full payment.

/** A resource as the API returned it. */
export type Fields = Readonly<Record<string, unknown>>

/** `changes` with an id is the whole resource. */
export const withChanges = (snapshot: Fields, changes: Fields | null): Fields =>
  changes !== null && 'id' in changes ? changes : { ...snapshot, ...changes }

/**
 * The fields that differ from the snapshot, and the status, which `verify` reads. Returns the whole payment if the differences
 * would not reproduce the same text, for example because the API's fields have changed since.
 */
export const changesOf = (snapshot: Fields, payment: Fields): Fields => {
  const isChanged = ([name, value]: [string, unknown]) =>
    name === 'status' || JSON.stringify(value) !== JSON.stringify(snapshot[name])
  const changes = Object.fromEntries(Object.entries(payment).filter(isChanged))
  return JSON.stringify(withChanges(snapshot, changes)) === JSON.stringify(payment) ? changes : payment
}
