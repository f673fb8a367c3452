/** The provider's sentences for the most common codes; a service must not depend on them. */
const sentences: Readonly<Record<string, string>> = {
  '0': 'The service request is processed successfully.',
  '1': 'The balance is insufficient for the transaction.',
  '17': 'Rule limited.',
  '26': 'System busy.',
  '1001': 'Unable to lock subscriber, a transaction is already in process for the current subscriber.',
  '1019': 'Transaction has expired.',
  '1032': 'Request cancelled by user.',
  '1037': 'DS timeout user cannot be reached.',
  '2001': 'The initiator information is invalid.',
  '2032': 'The transaction receipt number does not exist.',
  '2040': 'Credit Party customer type (Unregistered or Registered Customer) cannot be supported by the service.',
  '4999': 'The transaction is still under processing.',
  SFC_IC0003: 'The operator does not exist.',
}

export const describe = (code: string): string =>
  (Object.hasOwn(sentences, code) ? sentences[code] : undefined) ?? 'The transaction could not be completed.'
