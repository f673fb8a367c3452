import { csvHeader, csvLine } from '../../../src/lib/csv-line.ts'
import {
  columnOfTitle,
  isIgnored,
  isReason,
  labelOfColumn,
  listColumns,
  reasonTitle,
  titleKey,
} from '../../../src/lib/list-columns.ts'
import type { PaymentList as ParsedBatch } from '../../../src/lib/payment-list.ts'
import { filledWidth, rowProblem, withoutHeadings } from '../../../src/lib/table-rows.ts'
import { loadScript } from '../api/error.ts'
import { isBatchKey, tBatch } from './batch-texts.ts'
import { readStoredJson, writeStored } from './store.ts'
import { loadFileReader, ofFile, type Problem, readTextFile } from './text-file.ts'

/** `meaning`: an API column, `metadata.<name>` for a custom field, or `-` to leave the column out. Null: not chosen yet. */
export type SheetColumn = { title: string; meaning: string | null }
/** `number`: the row number in the spreadsheet. */
export type SheetRow = { number: number; cells: string[] }
/** A batch being edited. `name` comes from the file; empty rows are left out. `repeats`: the earlier batch to pay again. */
export type BatchSheet = {
  name: string
  titlesAt: number
  columns: SheetColumn[]
  rows: SheetRow[]
  repeats?: { id: string; rows: SheetRow[] }
}

export const ignoredMeaning = '-'
const maxNameLength = 120
const maxRows = 1_000

const storageKey = 'list-columns'
const readRemembered = (): Readonly<Record<string, unknown>> => ({ ...(readStoredJson(storageKey) as object | null) })
const isMeaning = (value: unknown): value is string =>
  typeof value === 'string' &&
  (value === ignoredMeaning || value.startsWith('metadata.') || listColumns.some((name) => name === value))

/** Remembers column meanings for next month's file. They reveal nothing about a person, so they outlive the session. */
export const rememberColumns = ({ columns, repeats }: BatchSheet): void => {
  if (repeats) return
  const chosen = columns.flatMap(({ title, meaning }) => (title === '' || meaning === null ? [] : [[titleKey(title), meaning]]))
  writeStored(storageKey, JSON.stringify({ ...readRemembered(), ...Object.fromEntries(chosen) }))
}

const meaningOf = (title: string, isFilled: boolean): string | null => {
  if (isReason(title) || (title === '' && !isFilled)) return ignoredMeaning
  if (title === '') return null
  const known = Object.entries(readRemembered()).find(([key]) => key === titleKey(title))?.[1]
  if (isMeaning(known)) return known
  return isIgnored(title) ? ignoredMeaning : columnOfTitle(title)
}

export const parseSheet = async (text: string, name = ''): Promise<BatchSheet | Problem> => {
  const reader = await loadFileReader()
  if ('problem' in reader) return reader
  const read = reader.readRows(text)
  if ('problem' in read) return ofFile(read.problem)
  const [titles, ...rows] = withoutHeadings(read)
  if (!titles || rows.length === 0) return { problem: tBatch('no_payments') }
  const width = filledWidth(titles.cells)
  return {
    name,
    titlesAt: titles.number,
    columns: titles.cells.slice(0, width).map((title, index) => ({
      title,
      meaning: meaningOf(
        title,
        rows.some(({ cells }) => cells[index]),
      ),
    })),
    // Keeps cells without a title, because they show that the cells of their row have shifted.
    rows: rows.map(({ number, cells }) => ({ number, cells: cells.slice(0, Math.max(width, filledWidth(cells))) })),
  }
}

export const parseSheetFile = async (file: File, charset?: string): Promise<BatchSheet | Problem> => {
  const text = await readTextFile(file, charset)
  return typeof text === 'string' ? parseSheet(text, file.name.replace(/\.\w+$/, '').slice(0, maxNameLength)) : text
}

/** Hides beneficiary ids in a repeated batch: they mean nothing to a person. */
export const isShown = ({ repeats }: BatchSheet, { meaning }: SheetColumn): boolean => !repeats || meaning !== 'beneficiary_id'
export const isEditable = ({ repeats }: BatchSheet, { meaning }: SheetColumn): boolean => !repeats || meaning !== ignoredMeaning

/** Column label in the person's language. Files are recognised by English titles. */
export const columnWords = (column: string): string => {
  const key = `column.${column}`
  return isBatchKey(key) ? tBatch(key) : labelOfColumn(column)
}

const isKept = ({ meaning }: SheetColumn): boolean => meaning !== null && meaning !== ignoredMeaning

/** Reason why no cell of the row can be trusted. Null if there is none. */
export const rowFault = ({ columns }: BatchSheet, { cells }: SheetRow): string | null =>
  rowProblem(cells, columns.length) ??
  (columns.some((column, index) => isKept(column) && cells[index]?.trim()) ? null : tBatch('nothing_paid'))

/** Problem that prevents sending: too many rows, or missing or contradictory column meanings. Null if there is none. */
export const sheetProblem = ({ columns, rows }: BatchSheet): string | null => {
  if (rows.length > maxRows) return tBatch('too_long', { length: rows.length, max: maxRows })
  const [unknown] = columns.filter(({ meaning }) => meaning === null)
  if (unknown) return tBatch('say_what', { what: unknown.title === '' ? tBatch('untitled') : `“${unknown.title}”` })
  const kept = columns.filter(isKept)
  for (const one of kept) {
    const other = kept.find((each) => each !== one && each.meaning === one.meaning)
    if (other) return tBatch('twice', { title: one.title, title2: other.title, column: columnWords(one.meaning ?? '') })
  }
  const has = (...names: string[]) => kept.filter(({ meaning }) => names.includes(meaning ?? '')).length
  if (has('amount', 'amount_minor') !== 1) return tBatch('say_amount')
  return has('destination', 'beneficiary_id') === 0 ? tBatch('say_phone') : null
}

/** Name of a field for a person: its column title in the file, else the column's label. */
export const fieldName = ({ columns }: BatchSheet, param: string): string => {
  const names = param === 'amount_minor' || param === 'amount' ? ['amount', 'amount_minor'] : [param]
  return columns.find(({ meaning }) => meaning !== null && names.includes(meaning))?.title || columnWords(param)
}

const cell = (text: string): string => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** CSV to send. Each row keeps its line in the file, so that row numbers agree. A row with a fault is made unreadable. */
export const sheetToCsv = (list: BatchSheet): string => {
  const kept = list.columns.map((column, index) => ({ ...column, index })).filter(isKept)
  const lines = Array.from({ length: list.rows.at(-1)?.number ?? 0 }, () => '')
  const setLine = (number: number, cells: readonly string[]) => {
    lines[number - 1] = cells.map(cell).join(',')
  }
  setLine(
    list.titlesAt,
    kept.map(({ meaning }) => meaning ?? ''),
  )
  for (const row of list.rows)
    setLine(
      row.number,
      rowFault(list, row) === null ? kept.map(({ index }) => row.cells[index] ?? '') : [...kept.map(() => ''), '?'],
    )
  return `${lines.join('\n')}\n`
}

/** Rows as the service reads them, with their faults. */
export const parseLikeService = async (list: BatchSheet, currency: string): Promise<Pick<ParsedBatch, 'items' | 'faults'>> => {
  const { readPaymentList } = await loadScript(() => import('../../../src/lib/payment-list.ts'))
  const read = readPaymentList(sheetToCsv(list), { maxItems: maxRows, currency })
  return 'items' in read ? read : { items: [], faults: new Map() }
}

/** Two files for a spreadsheet: the payable rows, and the faulty rows with a reason column. `reasons`: by row number. */
export const splitByFault = ({ columns, rows }: BatchSheet, reasons: ReadonlyMap<number, string>) => {
  const titles = columns.map(({ title }) => title)
  const wrong = rows.filter(({ number }) => reasons.has(number))
  const width = Math.max(titles.length, ...wrong.map(({ cells }) => cells.length))
  const wide = (cells: readonly string[], last: string) => [
    ...Array.from({ length: width }, (_, index) => cells[index] ?? ''),
    last,
  ]
  const right = rows.filter(({ number }) => !reasons.has(number))
  return {
    payable: csvHeader(titles) + right.map(({ cells }) => csvLine(cells)).join(''),
    wrong:
      csvHeader(wide(titles, reasonTitle)) +
      wrong.map(({ number, cells }) => csvLine(wide(cells, reasons.get(number) ?? ''))).join(''),
  }
}

export const withMeaning = (list: BatchSheet, column: number, meaning: string): BatchSheet => ({
  ...list,
  columns: list.columns.map((each, index) => (index === column ? { ...each, meaning: meaning === '' ? null : meaning } : each)),
})

export const withCell = (list: BatchSheet, number: number, column: number, text: string): BatchSheet => ({
  ...list,
  rows: list.rows.map((row) => {
    if (row.number !== number) return row
    const cells = Array.from({ length: Math.max(row.cells.length, column + 1) }, (_, index) => row.cells[index] ?? '')
    return { number, cells: cells.with(column, text) }
  }),
})

export const withoutRows = (list: BatchSheet, numbers: ReadonlySet<number>): BatchSheet => ({
  ...list,
  rows: list.rows.filter(({ number }) => !numbers.has(number)),
})

export const exampleCsv = `name,phone,amount,narrative
Achieng Otieno,0722000101,45000,March salary
Baraka Mwangi,0722000102,38000.00,March salary
`
