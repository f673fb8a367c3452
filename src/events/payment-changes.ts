// An event of a payment stores what is different from the answer to its creation, which the payment's row keeps: a tenth of the payment.

/** A resource as REST returned it. */
export type Fields = Readonly<Record<string, unknown>>

/** The payment as it was published. `changes` that name its id are all of it. */
export const withChanges = (snapshot: Fields, changes: Fields | null): Fields =>
  changes !== null && 'id' in changes ? changes : { ...snapshot, ...changes }

/**
 * The fields by which the payment differs from its snapshot, with its status, which checks of the data read. All of it where these would not
 * give the same text again: the fields of the API are others than those when it was created.
 */
export const changesOf = (snapshot: Fields, payment: Fields): Fields => {
  const isChanged = ([name, value]: [string, unknown]) =>
    name === 'status' || JSON.stringify(value) !== JSON.stringify(snapshot[name])
  const changes = Object.fromEntries(Object.entries(payment).filter(isChanged))
  return JSON.stringify(withChanges(snapshot, changes)) === JSON.stringify(payment) ? changes : payment
}
