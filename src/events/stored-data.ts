// A payment's event stores only differences from the answer to its creation, which its row keeps: a tenth of the payment.

/** A resource as REST returned it. */
export type Fields = Readonly<Record<string, unknown>>

/** If `changes` has an id, it is the whole resource. */
export const withChanges = (snapshot: Fields, changes: Fields | null): Fields =>
  changes !== null && 'id' in changes ? changes : { ...snapshot, ...changes }

/**
 * The fields in which the payment differs from its snapshot, and its status, which checks of the data read. The whole payment if
 * these would not give the same text again, because the API's fields have changed since.
 */
export const changesOf = (snapshot: Fields, payment: Fields): Fields => {
  const isChanged = ([name, value]: [string, unknown]) =>
    name === 'status' || JSON.stringify(value) !== JSON.stringify(snapshot[name])
  const changes = Object.fromEntries(Object.entries(payment).filter(isChanged))
  return JSON.stringify(withChanges(snapshot, changes)) === JSON.stringify(payment) ? changes : payment
}

// An approval's event may leave out data that its rows keep for good: the two texts to sign and the decision. Version 0.2.0,
// which may run beside this one, would publish nulls. So this version only reads such events; a later one writes them
// (docs/upgrades.md).

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** The approval as it was published. The stored one has null in place of data that its rows keep. */
export const withKept = (approval: Fields, { signing, decision }: { signing: unknown; decision: unknown }): Fields => {
  const { payment } = approval
  return {
    ...approval,
    ...(isFields(payment) && payment.decision === null && { payment: { ...payment, decision } }),
    ...(approval.signing === null && { signing }),
  }
}
