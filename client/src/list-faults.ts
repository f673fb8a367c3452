/** A fault in a row of a batch. `row`: its number in the spreadsheet. `about`: the part that differs from similar faults. */
export type RowFault = { index: number; row: number; param: string | null; message: string; about: string | null }

/** Faults with the same fix, which share one message for all their rows. */
export type FaultKind = { param: string | null; message: string; faults: RowFault[] }

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Matches the quoted cell of `"abc" is not an amount: …`, which differs from row to row. */
const leadingQuote = /^("[^"]*") /

const earlierOf = ({ existing_payment_id: id, same_as_row: row, same_as_index: index }: Record<string, unknown>): string | null =>
  textOrNull(id) ?? (typeof row === 'number' ? `row ${row}` : typeof index === 'number' ? `item ${index}` : null)

/** The faults that a refusal of a batch lists. Empty if it refused the batch as a whole. `rowOf`: the row of an item in JSON. */
export const faultsIn = (
  { items }: Readonly<Record<string, unknown>>,
  rowOf: (index: unknown) => number | undefined = () => undefined,
): RowFault[] => {
  if (!Array.isArray(items)) return []
  return items.filter(isRecord).flatMap((item): RowFault[] => {
    const { index, message, row = rowOf(index), same_as_row = rowOf(item.same_as_index) } = item
    if (typeof index !== 'number' || typeof message !== 'string') return []
    const about = earlierOf({ ...item, same_as_row }) ?? leadingQuote.exec(message)?.[1] ?? null
    return [{ index, row: typeof row === 'number' ? row : index + 1, param: textOrNull(item.param), message, about }]
  })
}

const duplicate = 'looks like an earlier payment or row, with the same payee, amount and reference'

/** Removes the parts of a message that differ from row to row. */
const kindOf = (message: string): string =>
  /^This looks like (?:payment|row|item) /.test(message) ? duplicate : message.replace(leadingQuote, '')

/** Groups faults by kind, in the order of their first rows. */
export const groupFaults = (faults: readonly RowFault[]): FaultKind[] => {
  const kinds = new Map<string, FaultKind>()
  for (const fault of faults) {
    const message = kindOf(fault.message)
    const key = `${fault.param} ${message.replace(/\d[\d.,]*/g, '0')}`
    const known = kinds.get(key)
    if (known) known.faults.push(fault)
    else kinds.set(key, { param: fault.param, message, faults: [fault] })
  }
  return [...kinds.values()]
}

const maxNamed = 20

/** "row 3", "rows 3, 5 to 9 and 12", or with details: `rows 3 ("abc") and 7 ("1.0")`. */
export const rowsText = (faults: readonly Pick<RowFault, 'row' | 'about'>[]): string => {
  const parts: string[] = []
  const ordered = faults.toSorted((one, other) => one.row - other.row)
  for (let index = 0; index < ordered.length; ) {
    let end = index
    const { row = 0, about = null } = ordered[index] ?? {}
    while (about === null && ordered[end + 1]?.about === null && ordered[end + 1]?.row === row + end + 1 - index) end += 1
    const last = ordered[end]?.row ?? row
    parts.push(
      about === null ? (end - index > 1 ? `${row} to ${last}` : end > index ? `${row}, ${last}` : `${row}`) : `${row} (${about})`,
    )
    index = end + 1
  }
  const named = parts.length > maxNamed ? [...parts.slice(0, maxNamed), `${parts.length - maxNamed} more`] : parts
  const text = named.length < 2 ? named.join('') : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`
  return `${faults.length === 1 ? 'row' : 'rows'} ${text}`
}
