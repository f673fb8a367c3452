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

// An approval's event may omit data that is stored permanently elsewhere: the two texts to sign and the decision. Version 0.2.0,
// which may run beside this one, would publish nulls. This version therefore reads such events, and a later version will write
// them (docs/upgrades.md).

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** The approval as it was published. The stored event has null in place of data that other rows have. */
export const withKept = (approval: Fields, { signing, decision }: { signing: unknown; decision: unknown }): Fields => {
  const { payment } = approval
  return {
    ...approval,
    ...(isFields(payment) && payment.decision === null && { payment: { ...payment, decision } }),
    ...(approval.signing === null && { signing }),
  }
}
