import { nairobiDate, nairobiDateTime } from '../../rails/fields.ts'

/** The provider's texts for the most common codes. Clients must not depend on them. */
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

const dayFirst = (at: Date, separator: string): string => nairobiDate(at).split('-').toReversed().join(separator)

/** Nairobi time in the format of results: dd.MM.yyyy HH:mm:ss */
export const dottedTime = (at: Date): string => `${dayFirst(at, '.')} ${nairobiDateTime(at).slice(11)}`

/** The days that a statement covers, day first, in the format of its heading. */
export const periodText = (lines: readonly { at: Date }[]): string => {
  const dayOf = (line: { at: Date } | undefined) => dayFirst(line?.at ?? new Date(0), '-')
  return `From ${dayOf(lines.at(0))} 00:00:00 To ${dayOf(lines.at(-1))} 23:59:59`
}

/** The provider sends numbers as JSON numbers, and codes such as SFC_IC0003 as text. For output only, never for arithmetic. */
export const wireNumber = (text: string): number | string => (/^\d+(\.\d+)?$/.test(text) ? Number.parseFloat(text) : text)
