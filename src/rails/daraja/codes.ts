/**
 * Result codes that prove that no money moved, with a sentence of ours (the provider's wording varies, the code is the contract).
 * A code that is not listed proves nothing and is `unknown`.
 */
const shared = {
  '1': 'The paying account does not have enough money.',
  '2': 'The amount is below the minimum.',
  '3': 'The amount is above the maximum.',
  '4': 'The daily limit would be passed.',
  '8': 'The receiving account would hold more than it may.',
  '2001': 'The PIN or the initiator is not accepted.',
  '2028': 'This kind of transaction is not permitted.',
  '8006': 'The account is locked.',
  SFC_IC0003: 'The provider does not know the operator.',
} as const

const collection: Readonly<Record<string, string>> = {
  ...shared,
  '17': 'A rule of the provider limits this transaction.',
  '26': 'The provider is busy.',
  '1001': 'The subscriber has another transaction under way.',
  '1019': 'The transaction has expired.',
  '1025': 'The prompt could not be sent to the phone.',
  '1032': 'The prompt was cancelled on the phone.',
  '1037': 'The phone did not answer the prompt.',
  '9999': 'The prompt could not be sent to the phone.',
}

const payout: Readonly<Record<string, string>> = {
  ...shared,
  '11': 'The paying account is in an invalid state.',
  '21': 'The initiator may not do this.',
  '2006': 'The account status does not permit this.',
  '2040': 'The receiver is not a registered customer.',
}

const lookUp =
  (table: Readonly<Record<string, string>>) =>
  (code: string): string | undefined =>
    Object.hasOwn(table, code) ? table[code] : undefined

export const collectionFailure = lookUp(collection)
export const payoutFailure = lookUp(payout)

/** The prompt is still on the phone. */
export const stillUnderWay = '4999'
