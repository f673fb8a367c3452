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

/** The provider writes numbers as JSON numbers; codes like SFC_IC0003 stay text. Only for the wire: nothing is computed with it. */
export const wireNumber = (text: string): number | string => (/^\d+(\.\d+)?$/.test(text) ? Number.parseFloat(text) : text)

export const shillings = (amountMinor: bigint): string =>
  `${amountMinor / 100n}.${(amountMinor % 100n).toString().padStart(2, '0')}`
