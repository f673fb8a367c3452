/** A list as it is edited here: its name (of its file), the names of its columns, and its rows with their numbers in the file. Empty rows are left out. */
export type PaymentList = { name: string; columns: string[]; rows: ListRow[] }
export type ListRow = { number: number; cells: string[] }

const longestName = 120

const ofFile = (problem: string): { problem: string } => ({ problem: `This file ${problem}.` })

/** The reader of CSV is a third of what the pages weigh, so it is loaded with the first list. */
export const readList = async (text: string, name = ''): Promise<PaymentList | { problem: string }> => {
  const { filledWidth, readRows } = await import('../../../src/lib/table-file.ts')
  const read = readRows(text)
  if ('problem' in read) return ofFile(read.problem)
  const [titles, ...rows] = read
  if (!titles || rows.length === 0)
    return { problem: 'The first row names the columns, and each later row is a payment. This has no payments.' }
  const columns = titles.cells.slice(0, filledWidth(titles.cells))
  // A cell without a title stays: it shows that the cells of its row have moved.
  return {
    name,
    columns,
    rows: rows.map(({ number, cells }) => ({ number, cells: cells.slice(0, Math.max(columns.length, filledWidth(cells))) })),
  }
}

/** The text of a file, whatever program saved it. `charset`: where the person said which. */
export const readTextFile = async (file: Blob, charset?: string): Promise<string | { problem: string }> => {
  const { textOfFile } = await import('../../../src/lib/table-file.ts')
  const text = textOfFile(new Uint8Array(await file.arrayBuffer()), charset)
  return typeof text === 'string' ? text : ofFile(text.problem)
}

export const readListFile = async (file: File, charset?: string): Promise<PaymentList | { problem: string }> => {
  const text = await readTextFile(file, charset)
  return typeof text === 'string' ? readList(text, file.name.replace(/\.\w+$/, '').slice(0, longestName)) : text
}

const cell = (text: string): string => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** The list as it is sent. */
export const writeList = ({ columns, rows }: PaymentList): string =>
  [columns, ...rows.map(({ cells }) => cells)].map((cells) => `${cells.map(cell).join(',')}\n`).join('')

export const withCell = (list: PaymentList, row: number, column: number, text: string): PaymentList => ({
  ...list,
  rows: list.rows.map((each, index) =>
    index === row
      ? {
          ...each,
          cells: Array.from({ length: Math.max(each.cells.length, column + 1) }, (_, place) =>
            place === column ? text : (each.cells[place] ?? ''),
          ),
        }
      : each,
  ),
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
