/** A list as it is edited here: the names of its columns, and its rows. Empty rows are left out. */
export type PaymentList = { columns: string[]; rows: string[][] }

/** The reader of CSV is a third of what the pages weigh, so it is loaded with the first list. */
export const readList = async (text: string): Promise<PaymentList | { problem: string }> => {
  const { readCsvRows } = await import('../../../src/lib/csv-rows.ts')
  const read = readCsvRows(text)
  if ('problem' in read) return { problem: `This ${read.problem}.` }
  const [columns, ...rows] = read.filter((cells) => cells.some((cell) => cell !== ''))
  if (!columns || rows.length === 0)
    return { problem: 'The first row names the columns, and each later row is a payment. This has no payments.' }
  return { columns, rows: rows.map((cells) => columns.map((_, index) => cells[index] ?? '')) }
}

const cell = (text: string): string => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** The list as it is sent: row n of the list is row n + 2 of the text, as a spreadsheet numbers it. */
export const writeList = ({ columns, rows }: PaymentList): string =>
  [columns, ...rows].map((cells) => `${cells.map(cell).join(',')}\n`).join('')

export const withCell = (list: PaymentList, row: number, column: number, text: string): PaymentList => ({
  ...list,
  rows: list.rows.map((cells, index) => (index === row ? cells.map((old, place) => (place === column ? text : old)) : cells)),
})

export const withoutRow = (list: PaymentList, row: number): PaymentList => ({
  ...list,
  rows: list.rows.filter((_, index) => index !== row),
})

/** What is wrong with a field of a row. `param`: the field's name, as the API has it. */
export type RowFault = { index: number; param: string | null; message: string; fix: string | null }

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** The faults in a refusal of a list; none where it was refused as a whole. */
export const faultsIn = (details: Record<string, unknown>): RowFault[] => {
  const { items } = details
  if (!Array.isArray(items)) return []
  return items
    .filter(isRecord)
    .flatMap(({ index, param, message, fix }) =>
      typeof index === 'number' && typeof message === 'string'
        ? [{ index, param: typeof param === 'string' ? param : null, message, fix: typeof fix === 'string' ? fix : null }]
        : [],
    )
}

export const exampleList = `name,phone,amount,narrative
Achieng Otieno,0722000101,45000,March salary
Baraka Mwangi,0722000102,38000.00,March salary
`
