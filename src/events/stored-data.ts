// An event of a payment stores what is different from the answer to its creation, which the payment's row keeps: a tenth of the payment.

/** A resource as REST returned it. */
export type Fields = Readonly<Record<string, unknown>>

/** `changes` that name its id are all of it. */
export const withChanges = (snapshot: Fields, changes: Fields | null): Fields =>
  changes !== null && 'id' in changes ? changes : { ...snapshot, ...changes }

/**
 * The fields in which the payment differs from its snapshot, and its status, which checks of the data read. All of the payment where these would
 * not give the same text again: the API's fields have changed since.
 */
export const changesOf = (snapshot: Fields, payment: Fields): Fields => {
  const isChanged = ([name, value]: [string, unknown]) =>
    name === 'status' || JSON.stringify(value) !== JSON.stringify(snapshot[name])
  const changes = Object.fromEntries(Object.entries(payment).filter(isChanged))
  return JSON.stringify(withChanges(snapshot, changes)) === JSON.stringify(payment) ? changes : payment
}

// An event of an approval may leave out what its rows keep and never change: the two texts that are signed, and the decision. Version 0.2.0, which may
// run beside this one, would publish it with nulls. So this version reads it, and a later one writes it (docs/upgrades.md).

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** The approval as it was published. The stored one has null in place of what its rows keep. */
export const withKept = (approval: Fields, { signing, decision }: { signing: unknown; decision: unknown }): Fields => {
  const { payment } = approval
  return {
    ...approval,
    ...(isFields(payment) && payment.decision === null && { payment: { ...payment, decision } }),
    ...(approval.signing === null && { signing }),
  }
}
