import { nairobiDate, nairobiDateTime } from '../../rails/fields.ts'

const sentences: Readonly<Record<string, string>> = {
  '0': 'The service request is processed successfully.',
  '4999': 'The transaction is still under processing.',
}

/** The provider's text for a code. Clients must not depend on it. */
export const describe = (code: string): string => sentences[code] ?? 'The transaction could not be completed.'

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
