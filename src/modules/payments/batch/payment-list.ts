import { readCsvRows } from '../../../lib/csv-rows.ts'
import { type FieldError, invalidFields } from '../../../lib/errors.ts'

/** A list of payments as a spreadsheet writes it, read into the items of a request in JSON. */
export type PaymentList = {
  items: Record<string, unknown>[]
  /** The row of each item in the file, from 1: what a person sees in a spreadsheet. */
  rows: number[]
  /** What is wrong with the amounts, by the place of the item: the items have none then. */
  amounts: ReadonlyMap<number, FieldError>
}

/** What a spreadsheet calls the same. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['name', 'display_name'],
  ['phone', 'destination'],
  ['phone_number', 'destination'],
  ['reference', 'account_reference'],
])

const known: ReadonlySet<string> = new Set([
  'beneficiary_id',
  'display_name',
  'payment_rail',
  'destination',
  'bank_code',
  'legal_name',
  'type',
  'amount',
  'amount_minor',
  'payment_type',
  'account_reference',
  'narrative',
])
const mostColumns = 64
const isMetadata = (column: string): boolean => /^metadata\.(?!__proto__$).+/.test(column)

const columnOf = (cell: string): string => {
  const name = cell.toLowerCase().replaceAll(/[\s-]+/g, '_')
  return aliases.get(name) ?? (isMetadata(name) ? cell : name)
}

const headerProblems = (columns: readonly string[]): FieldError[] => {
  const unknown = columns.filter((column) => !known.has(column) && !isMetadata(column))
  const repeated = columns.filter((column, index) => columns.indexOf(column) !== index)
  const [minor, major] = [columns.includes('amount_minor'), columns.includes('amount')]
  return [
    ...unknown.map((path) => ({
      path: path || 'body',
      message:
        path === ''
          ? 'has a column without a name in its first row'
          : `is not a known column: use ${[...known].join(', ')} or metadata.<name>`,
    })),
    ...repeated.map((path) => ({ path, message: 'is the name of two columns' })),
    ...(minor === major
      ? [{ path: 'amount', message: 'give each row one amount: in a column amount (12500.50) or amount_minor (1250050)' }]
      : []),
  ]
}

const majorAmount = /^(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(?:\.(\d{1,2}))?$/

/** "12,500.50" in minor units; undefined for what could mean two amounts. */
const readAmount = (cell: string): string | undefined => {
  const match = majorAmount.exec(cell)
  if (!match) return undefined
  const [whole = ''] = cell.replaceAll(',', '').split('.')
  return BigInt(whole + (match[1] ?? '').padEnd(2, '0')).toString()
}

/** The apostrophe by which a spreadsheet's formula is kept from being one: our own lists have it. */
const textOf = (cell: string): string => cell.replace(/^'(?=[=+\-@])/, '')

const itemOf = (columns: readonly string[], cells: readonly string[]): Record<string, unknown> => {
  const filled = columns.flatMap((column, index) => {
    const text = textOf(cells[index] ?? '')
    return text === '' ? [] : [[column, text] as const]
  })
  const metadata = filled.flatMap(([column, text]) =>
    isMetadata(column) ? [[column.slice('metadata.'.length), text] as const] : [],
  )
  return {
    ...Object.fromEntries(filled.filter(([column]) => !isMetadata(column))),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
  }
}

/** Throws 400 for a file that is no list; what is wrong with single rows is found with everything else that is wrong with them. */
export const readPaymentList = (text: string): PaymentList => {
  const read = readCsvRows(text)
  if ('problem' in read) throw invalidFields({ path: 'body', message: read.problem })
  const filled = read.flatMap((cells, index) => (cells.some((cell) => cell !== '') ? [{ cells, row: index + 1 }] : []))
  const [header, ...lines] = filled
  if (!header || lines.length === 0)
    throw invalidFields({
      path: 'body',
      message: 'has no rows: the first row names the columns, and each later one is a payment',
    })
  if (header.cells.length > mostColumns)
    throw invalidFields({ path: 'body', message: `has ${header.cells.length} columns: at most ${mostColumns} are read` })
  const columns = header.cells.map(columnOf)
  const problems = headerProblems(columns)
  if (problems.length > 0) throw invalidFields(...problems)
  const amounts = new Map<number, FieldError>()
  const items = lines.map(({ cells }, index) => {
    const { amount, ...item } = itemOf(columns, cells)
    if (typeof amount !== 'string') return item
    const minor = readAmount(amount)
    if (minor === undefined)
      amounts.set(index, { path: 'amount', message: `"${amount.slice(0, 40)}" is no amount: write it as 12500 or 12500.50` })
    return minor === undefined ? item : { ...item, amount_minor: minor }
  })
  return { items, rows: lines.map(({ row }) => row), amounts }
}
