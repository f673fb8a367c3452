import { bankHint, bankOfName, plainCode } from './banks.ts'
import { columnOfTitle, isIgnored, isReason, isTransferMethodColumn, knownColumns } from './list-columns.ts'
import { displayAmount, type Minor, readAmount, readNonNegative } from './money.ts'
import { bankRail } from './rail-names.ts'
import { readRows } from './table-file.ts'
import { filledWidth, rowProblem, type TableRow, withoutHeadings } from './table-rows.ts'
import { compactNumber, mayBeAccount, quotedUnlessAccount } from './text.ts'

/** `path`: a column, or `row` if the row's cells are shifted, so that none of them is used. */
export type CellFault = { path: string; message: string }

export type PaymentList = {
  items: Record<string, unknown>[]
  /** Row numbers as in a spreadsheet, starting at 1. */
  rows: number[]
  /** Faults by index of the item. The item omits the fields of faulty cells. */
  faults: ReadonlyMap<number, CellFault[]>
  warnings: { code: 'columns_ignored'; message: string }[]
}

type Column = { index: number; name: string }

const longestTitle = 60
/** Allowance for titles, headings and totals, which are not payments. */
const otherRows = 100
const ofFile = (message: string): { problems: CellFault[] } => ({ problems: [{ path: 'body', message }] })

const filledIn = (rows: readonly TableRow[], index: number): string[] => rows.flatMap(({ cells }) => cells[index]?.trim() || [])

/** Ignores columns that have neither a title nor a filled cell. */
const readTitles = (titles: readonly string[], rows: readonly TableRow[]) => {
  const columns: Column[] = []
  const ignored: string[] = []
  const problems: CellFault[] = []
  const unknown: string[] = []
  for (const [index, title] of titles.entries()) {
    const name = columnOfTitle(title)
    const first = columns.find((column) => column.name === name)
    if (title === '') {
      if (rows.some(({ cells }) => cells[index])) problems.push({ path: 'body', message: `column ${index + 1} has no title` })
    } else if (isReason(title)) continue
    else if (isIgnored(title) || (name !== null && isTransferMethodColumn(name, filledIn(rows, index)))) ignored.push(title)
    else if (name === null) unknown.push(mayBeAccount(title) ? `column ${index + 1}` : title.slice(0, longestTitle))
    else if (first) problems.push({ path: name, message: `is what two titles mean: "${titles[first.index]}" and "${title}"` })
    else columns.push({ index, name })
  }
  const [hasMinor, hasMajor] = ['amount_minor', 'amount'].map((name) => columns.some((column) => column.name === name))
  if (hasMinor === hasMajor && unknown.length === 0)
    problems.push({
      path: 'amount',
      message: 'give each row one amount: in a column amount (12500.50) or amount_minor (1250050)',
    })
  const named = unknown.map((path, index) => ({
    path,
    message: index > 0 ? 'is not a known column' : `is not a known column. Known are ${knownColumns} and metadata.<name>`,
  }))
  return { columns, ignored, problems: [...named, ...problems] }
}

/** A cell's text on one line, without a leading apostrophe or `="…"`, which spreadsheets use to keep a cell as text. */
const textOf = (cell: string): string =>
  cell
    .replace(/^'(?=[=+\-@;\d])/, '')
    .replace(/^="(.*)"$/, '$1')
    .split(/[\r\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')

/** An amount with more digits may be a phone number in the wrong column. */
const maxAmountDigits = 8
const numbers: ReadonlySet<string> = new Set(['destination', 'amount', 'amount_minor'])
/** The character that programs write in place of an unreadable one. */
const lostLetter = '\uFFFD'
/** Excel's notation for a long number, which has lost its last digits. */
const exponent = /^\d(?:[.,]\d+)?E\+\d{1,3}$/i

/** Restores the leading 0 of a phone that a spreadsheet treated as a number. Adds the rail for a bank account. */
const withPhoneOrRail = (item: Record<string, string>): Record<string, string> => {
  const { destination, bank_code: bank, payment_rail: rail, beneficiary_id: known } = item
  if (bank !== undefined) return rail === undefined && known === undefined ? { ...item, payment_rail: bankRail } : item
  return destination !== undefined && /^[17]\d{8}$/.test(destination) ? { ...item, destination: `0${destination}` } : item
}

const isOwnCurrency = (text: string, currency: string): boolean =>
  readAmount(`1 ${text}`, currency) === 100n || (currency === 'KES' && /^keny(?:a|an) shillings?$/i.test(text))

/** Entries under "Bank" with which payroll systems mark a phone payment. */
const isNoBank = /^(?:m-?pesa|safaricom|mobile(?: money)?|n\/?a|-)$/i

/** The form of codes, also of codes that only the deployment knows. In a column of names, other text is a name. */
const bankCodeForms = { bank_name: /^[A-Z\d-]{1,16}$/, bank_code: /^[A-Z\d-]{1,16}$/i } as const

/** The item's fields from a cell, or the cell's fault. `shown`: the cell in quotes, if errors may repeat it. */
const fieldOf = (name: string, text: string, shown: string, currency: string): [string, string][] | string => {
  if (name === 'currency') return isOwnCurrency(text.trim(), currency) ? [] : `${shown}is another currency than ${currency}`
  if (name === 'amount') {
    const amount = readNonNegative(text, currency)
    return amount === undefined
      ? `${shown}is not an amount: write it as 12500 or 12500.50`
      : [['amount_minor', amount.toString()]]
  }
  if (name !== 'bank_name' && name !== 'bank_code') return [[name, text]]
  if (name === 'bank_name' && isNoBank.test(text.trim())) return []
  const code = bankOfName(text)?.code ?? (/\p{L}/u.test(text) ? text.trim() : compactNumber(text))
  if (bankCodeForms[name].test(code)) return [[name, code]]
  return `${shown}is not the name of one bank that can be paid; GET /v1/banks lists them.${bankHint(text)}`
}

const itemOf = (columns: readonly Column[], cells: readonly string[], currency: string) => {
  const faults: CellFault[] = []
  const fields: [string, string][] = []
  const metadata: [string, string][] = []
  for (const { name, index } of columns) {
    const written = textOf(cells[index] ?? '')
    const text = numbers.has(name) ? compactNumber(written) : written
    const shown =
      name === 'destination' ? '' : quotedUnlessAccount(written, name.startsWith('amount') ? maxAmountDigits : undefined)
    if (text.trim() === '') continue
    if (text.includes(lostLetter))
      faults.push({
        path: name,
        message: `${shown}has a letter that an earlier program lost (${lostLetter}): enter it again`,
      })
    else if ((numbers.has(name) || name === 'account_reference') && exponent.test(text))
      faults.push({
        path: name,
        message: `${shown}is what Excel made of a long number: give the column the format Text, and enter the number again`,
      })
    else if (name.startsWith('metadata.')) metadata.push([name.slice('metadata.'.length), text])
    else {
      const field = fieldOf(name, text, shown, currency)
      if (typeof field === 'string') faults.push({ path: name, message: field })
      else fields.push(...field)
    }
  }
  const { bank_name: named, ...given } = Object.fromEntries(fields) as Record<string, string>
  if (named !== undefined && given.bank_code !== undefined && plainCode(given.bank_code) !== plainCode(named))
    faults.push({
      path: 'bank_code',
      message: `${quotedUnlessAccount(given.bank_code)}is not the code of the named bank${mayBeAccount(named) ? '' : `, which has ${named}`}`,
    })
  const item = named === undefined ? given : { bank_code: named, ...given }
  return { item: { ...withPhoneOrRail(item), ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }) }, faults }
}

const totalWords = /^\W*(?:grand |sub-?)?totals?\b|^\W*jumla\b/i

/**
 * Whether the last row is a total: it has no payee, and either says "total" or contains only the sum of the rows above. A
 * different total is a problem, because rows are missing or were added. If an amount above cannot be read, its row is reported.
 */
const readTotal = (
  row: TableRow | undefined,
  columns: readonly Column[],
  items: readonly Record<string, unknown>[],
  currency: string,
): { isTotal: boolean; problem?: string } => {
  const at = (...names: string[]) =>
    columns.filter(({ name }) => names.includes(name)).map(({ index }) => row?.cells[index] ?? '')
  if (!row || at('destination', 'beneficiary_id').some((cell) => cell !== '')) return { isTotal: false }
  const filled = row.cells.filter((cell) => cell !== '')
  const [text = ''] = at('amount', 'amount_minor')
  const isMinor = columns.some(({ name }) => name === 'amount_minor')
  const stated: Minor | undefined = isMinor ? BigInt(/^\d{1,18}$/.exec(text)?.[0] ?? -1) : readNonNegative(textOf(text), currency)
  const amounts = items.map(({ amount_minor }) => /^\d{1,18}$/.exec(String(amount_minor))?.[0])
  const sum = amounts.reduce((total, amount) => total + BigInt(amount ?? 0), 0n)
  if (!filled.some((cell) => totalWords.test(cell))) return { isTotal: filled.length === 1 && text !== '' && stated === sum }
  if (text === '' || stated === sum || amounts.includes(undefined)) return { isTotal: true }
  const shown = mayBeAccount(text, maxAmountDigits) ? '' : ` of "${text.slice(0, 40)}"`
  const problem = `row ${row.number} is a total${shown}, and the rows above it are ${displayAmount(sum, currency)} in all: rows are missing, or are too many`
  return { isTotal: true, problem }
}

/** About columns that contain neither payee nor amount. */
const warningsOf = (ignored: readonly string[]): PaymentList['warnings'] => {
  const titles = ignored.map((title) => title.slice(0, longestTitle)).join(', ')
  const message = `These columns say nothing about whom or how much, and are left out: ${titles}.`
  return ignored.length === 0 ? [] : [{ code: 'columns_ignored', message }]
}

/** `faults` contains the faults of single rows. `problems` means that the file cannot be read as a batch. */
export const readPaymentList = (
  text: string,
  { maxItems, currency }: { maxItems: number; currency: string },
): PaymentList | { problems: CellFault[] } => {
  const read = readRows(text, maxItems + otherRows)
  if ('problem' in read) return ofFile(read.problem)
  const [header, ...rows] = withoutHeadings(read)
  if (!header || rows.length === 0) return ofFile('has no rows: the first row names the columns, and each later one is a payment')
  if (rows.length > maxItems + 1) return ofFile(`has ${rows.length} payments: a batch has at most ${maxItems}, so split it`)
  const titles = header.cells.slice(0, filledWidth(header.cells))
  const { columns, ignored, problems } = readTitles(titles, rows)
  if (problems.length > 0) return { problems }
  const each = rows.map(({ cells }) => {
    const moved = rowProblem(cells, titles.length)
    return moved === null ? itemOf(columns, cells, currency) : { item: {}, faults: [{ path: 'row', message: moved }] }
  })
  const total = readTotal(
    rows.at(-1),
    columns,
    each.slice(0, -1).map(({ item }) => item),
    currency,
  )
  if (total.problem !== undefined) return ofFile(total.problem)
  const paid = total.isTotal ? each.slice(0, -1) : each
  if (paid.length === 0) return ofFile('has no payments, and a total alone')
  if (paid.length > maxItems) return ofFile(`has ${paid.length} payments: a batch has at most ${maxItems}, so split it`)
  return {
    items: paid.map(({ item }) => item),
    rows: rows.slice(0, paid.length).map(({ number }) => number),
    faults: new Map(paid.flatMap(({ faults }, index) => (faults.length > 0 ? [[index, faults] as const] : []))),
    warnings: warningsOf(ignored),
  }
}
