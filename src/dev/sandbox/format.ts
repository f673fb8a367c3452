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
