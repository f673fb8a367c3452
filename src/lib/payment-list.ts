import { columnOfTitle, isReason, knownColumns } from './list-columns.ts'
import { readRows } from './table-file.ts'
import { filledWidth, rowProblem, type TableRow } from './table-rows.ts'
import { compactNumber } from './text.ts'

/** `path`: a column, or `row` where its cells have moved and none of them is read. */
export type CellFault = { path: string; message: string }

export type PaymentList = {
  items: Record<string, unknown>[]
  /** From 1, as a spreadsheet numbers them. */
  rows: number[]
  /** By the place of the item, which lacks what these cells would have given. */
  faults: ReadonlyMap<number, CellFault[]>
}

type Column = { place: number; name: string }

const longestTitle = 60
/** Titles, headings and totals, which are no payments. */
const otherRows = 100
const ofFile = (message: string): { problems: CellFault[] } => ({ problems: [{ path: 'body', message }] })

/** A column without a title and without a filled cell is ignored. */
const readTitles = (titles: readonly string[], rows: readonly TableRow[]): { columns: Column[]; problems: CellFault[] } => {
  const columns: Column[] = []
  const problems: CellFault[] = []
  const unknown: string[] = []
  for (const [place, title] of titles.entries()) {
    const name = columnOfTitle(title)
    const first = columns.find((column) => column.name === name)
    if (title === '') {
      if (rows.some(({ cells }) => cells[place])) problems.push({ path: 'body', message: `column ${place + 1} has no title` })
    } else if (isReason(title)) continue
    else if (name === null) unknown.push(title.slice(0, longestTitle))
    else if (first) problems.push({ path: name, message: `is what two titles mean: "${titles[first.place]}" and "${title}"` })
    else columns.push({ place, name })
  }
  const [minor, major] = ['amount_minor', 'amount'].map((name) => columns.some((column) => column.name === name))
  if (minor === major && unknown.length === 0)
    problems.push({
      path: 'amount',
      message: 'give each row one amount: in a column amount (12500.50) or amount_minor (1250050)',
    })
  const named = unknown.map((path, index) => ({
    path,
    message: index > 0 ? 'is not a known column' : `is not a known column. Known are ${knownColumns} and metadata.<name>`,
  }))
  return { columns, problems: [...named, ...problems] }
}

const majorAmount = /^(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(?:\.(\d{1,2}))?$/

/** "12,500.50" in minor units; undefined for what could mean two amounts. */
const readAmount = (cell: string): string | undefined => {
  const match = majorAmount.exec(cell)
  if (!match) return undefined
  const [whole = ''] = cell.replaceAll(',', '').split('.')
  return BigInt(whole + (match[1] ?? '').padEnd(2, '0')).toString()
}

/** A cell's text on one line, without the apostrophe that keeps a formula from being one, or the formula that keeps a number as text. */
const textOf = (cell: string): string =>
  cell
    .replace(/^'(?=[=+\-@;\d])/, '')
    .replace(/^="(.*)"$/, '$1')
    .split(/[\r\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')

const numbers: ReadonlySet<string> = new Set(['destination', 'amount', 'amount_minor', 'bank_code'])
/** What a program writes for a letter that it could not read. */
const lostLetter = '\uFFFD'
/** Excel's form of a long number, whose last digits are lost. */
const exponent = /^\d(?:[.,]\d+)?E\+\d{1,3}$/i

/** A phone that a spreadsheet took for a number has lost its zero. A bank account may begin with any digit. */
const withZero = (item: Record<string, string>): Record<string, string> => {
  const { destination, bank_code: bank } = item
  return bank === undefined && destination !== undefined && /^[17]\d{8}$/.test(destination)
    ? { ...item, destination: `0${destination}` }
    : item
}

const itemOf = (columns: readonly Column[], cells: readonly string[]): { item: Record<string, unknown>; faults: CellFault[] } => {
  const faults: CellFault[] = []
  const fields: [string, string][] = []
  const metadata: [string, string][] = []
  for (const { name, place } of columns) {
    const written = textOf(cells[place] ?? '')
    const text = numbers.has(name) ? compactNumber(written) : written
    const shown = `"${written.slice(0, 40)}"`
    const minor = name === 'amount' ? readAmount(text) : undefined
    if (text.trim() === '') continue
    if (text.includes(lostLetter))
      faults.push({ path: name, message: `${shown} has a letter that an earlier program lost (${lostLetter}): enter it again` })
    else if ((numbers.has(name) || name === 'account_reference') && exponent.test(text))
      faults.push({
        path: name,
        message: `${shown} is what Excel made of a long number: give the column the format Text, and enter the number again`,
      })
    else if (name.startsWith('metadata.')) metadata.push([name.slice('metadata.'.length), text])
    else if (name !== 'amount') fields.push([name, text])
    else if (minor !== undefined) fields.push(['amount_minor', minor])
    else faults.push({ path: name, message: `${shown} is no amount: write it as 12500 or 12500.50` })
  }
  return {
    item: {
      ...withZero(Object.fromEntries(fields)),
      ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
    },
    faults,
  }
}

/** What is wrong with single rows is in `faults`; a file with `problems` cannot be read as a list. */
export const readPaymentList = (text: string, maxItems: number): PaymentList | { problems: CellFault[] } => {
  const read = readRows(text, maxItems + otherRows)
  if ('problem' in read) return ofFile(read.problem)
  const [header, ...rows] = read
  if (!header || rows.length === 0) return ofFile('has no rows: the first row names the columns, and each later one is a payment')
  if (rows.length > maxItems) return ofFile(`has ${rows.length} payments: a list has at most ${maxItems}, so split it`)
  const titles = header.cells.slice(0, filledWidth(header.cells))
  const { columns, problems } = readTitles(titles, rows)
  if (problems.length > 0) return { problems }
  const faults = new Map<number, CellFault[]>()
  const items = rows.map(({ cells }, index) => {
    const moved = rowProblem(cells, titles.length)
    const { item, faults: own } =
      moved === null ? itemOf(columns, cells) : { item: {}, faults: [{ path: 'row', message: moved }] }
    if (own.length > 0) faults.set(index, own)
    return item
  })
  return { items, rows: rows.map(({ number }) => number), faults }
}
