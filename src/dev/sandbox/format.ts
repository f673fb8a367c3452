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

const offsetMs = 3 * 3_600_000

/** The provider's three formats of Nairobi's time. */
export const localTime = (at: Date): { compact: string; dotted: string; day: string } => {
  const text = new Date(at.getTime() + offsetMs).toISOString()
  const [day = '', time = ''] = text.slice(0, 19).split('T')
  const [year = '', month = '', date = ''] = day.split('-')
  return {
    compact: `${day}${time}`.replace(/\D/g, ''),
    dotted: `${date}.${month}.${year} ${time}`,
    day: `${year}${month}${date}`,
  }
}

/** Nairobi's time as statements print it. */
export const dashedTime = (at: Date): string => new Date(at.getTime() + offsetMs).toISOString().slice(0, 19).replace('T', ' ')

/** The days of a statement's lines, as its heading names them: day first. */
export const periodText = (lines: readonly { at: Date }[]): string => {
  const dayOf = (line: { at: Date } | undefined) =>
    localTime(line?.at ?? new Date(0))
      .dotted.slice(0, 10)
      .replaceAll('.', '-')
  return `From ${dayOf(lines.at(0))} 00:00:00 To ${dayOf(lines.at(-1))} 23:59:59`
}

/** The provider writes numbers as JSON numbers; codes like SFC_IC0003 stay text. Only for the wire: nothing is computed with it. */
export const wireNumber = (text: string): number | string => (/^\d+(\.\d+)?$/.test(text) ? Number.parseFloat(text) : text)

export const shillings = (amountMinor: bigint): string =>
  `${amountMinor / 100n}.${(amountMinor % 100n).toString().padStart(2, '0')}`
