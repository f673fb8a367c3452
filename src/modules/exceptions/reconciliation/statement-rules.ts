import { type Provider, providers } from '../../../lib/rail-names.ts'
import { readRows } from '../../../lib/table-file.ts'
import { filledWidth, type TableRow as Row, rowProblem } from '../../../lib/table-rows.ts'
import { definitions } from '../../../rails/definitions.ts'
import type { ListedPayment } from '../../../rails/rail.ts'
import { providerLabels } from '../../../rails/texts.ts'
import { type Direction, knownAmounts, knownTimes, readDirection, readMarked, readSpan, spansIn } from './statement-cells.ts'
import { type Column, findBank, findForm, type Layout, type OwnTitles, rowsLookedAt, titlesProblem } from './statement-titles.ts'

/**
 * `until`: the end of the day, if the line states no time. `party`: masked. `account`: the account at a paybill. `linked`: the
 * receipt that the line reverses. A bank's line has no receipt, but one of its `words` may be ours.
 */
export type StatementLine = Omit<ListedPayment, 'receipt'> & {
  receipt: string | null
  words?: readonly string[]
  /** Identifies a line that has no receipt. */
  details?: string
  until?: Date
  party?: string
  account?: string
  linked?: string
  isCharge?: true
}

/** A provider's statement. Its lines are movements that are completed. */
export type Statement = {
  provider: Provider
  lines: readonly StatementLine[]
  /** Movements that are not completed. They prove nothing, but are searched for names. */
  unfinished: readonly StatementLine[]
  heading: { number: string | null; account: string | null; period: { start: Date | undefined; end: Date | undefined } }
  text: string
}

export const squeezed = (text: string): string => text.toUpperCase().replace(/[^0-9A-Z]/g, '')

type Form = (typeof definitions)[keyof typeof definitions]['statement']
type Cell = (row: Row, column: Column | 'amount' | 'direction') => string
type Table = Layout & { cell: Cell; textsOf: (row: Row) => string[]; form: Form; columns: number; currency: string }

export type StatementSettings = { CURRENCY: string; STATEMENT_COLUMNS?: OwnTitles | undefined }

/** Rejects the whole statement: a partial reading would show differences that do not exist. */
class Unreadable extends Error {}

const plain = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, ' ')

/** Reads only the text before the payee ("Business Payment Charge to …"): a payee's name does not make a payment a charge. */
const isChargeText = (details: string): boolean => {
  const [head = ''] = details.trim().split(/\s(?:to|from|via|by|of)\s|[-:;,(.]/i, 1)
  return /^(?:charges?|excise duty)\b|\bcharges?$/i.test(head.trim())
}

/** Reads labels and values from one cell or two: "Short Code: 600998" or "Short Code:,600998". */
const readHeading = (rows: readonly Row[], { heading }: Form): Statement['heading'] => {
  const entries = rows.flatMap(({ cells }) =>
    cells.flatMap((cell, index) => {
      const [label = '', ...rest] = cell.split(':')
      const value = rest.join(':').trim() || (cells.slice(index + 1).find((next) => next.trim() !== '') ?? '')
      return label.trim() === '' ? [] : [{ label: plain(label), value: value.trim() }]
    }),
  )
  const valuesOf = (labels: readonly string[]) => entries.flatMap(({ label, value }) => (labels.includes(label) ? [value] : []))
  const numbers = new Set(valuesOf(heading.number).flatMap((value) => /^[0-9A-Za-z-]{5,}/.exec(value)?.[0] ?? []))
  const [number = null] = numbers
  const [start, end] = valuesOf(['time period', 'period', 'statement period', 'date range', 'duration']).flatMap(spansIn)
  const [from] = valuesOf(['from', 'from date', 'start date', 'start time']).flatMap(spansIn)
  const [to] = valuesOf(['to', 'to date', 'end date', 'end time']).flatMap(spansIn)
  return {
    number: numbers.size === 1 ? number : null,
    account: valuesOf(heading.account).find((value) => !numbers.has(value)) ?? null,
    period: { start: (start ?? from)?.at, end: (end ?? to)?.until },
  }
}

const footer =
  /^(?:(?:sub|grand)[ -]?)?totals?\b|^(?:opening|closing|available|current|ledger) bal(?:ance)?\b|^balance\b|^(?:summary|number of|no\.? of|page)\b|^(?:\W*end of|disclaimer|notes?\b|generated|printed|this (?:statement|is|document))/i

/** Matches balances, such as "Balance B/F" or "OPENING BALANCE". They are not movements. */
const balance =
  /^\W*(?:(?:opening|closing|previous|ledger|available|statement) bal(?:ance)?|bal(?:ance)?|[bc]\s?\/\s?f(?:wd)?)(?: as (?:at|of|on)\b.*| (?:at|for)\b.*| ?(?:[bc]\s?\/\s?f(?:wd)?|(?:brought|carried) (?:forward|down)|forward))?\W*$/i

const hasMoved = (row: Row, cell: Cell): boolean => (['in', 'out', 'amount'] as const).some((column) => cell(row, column) !== '')

/** Whether a row is a total, a balance, a page number or a sentence, and not a movement. */
const isFooter = (row: Row, { cell, textsOf, isBank }: Table): boolean => {
  if (isBank && textsOf(row).some((text) => balance.test(text))) return true
  if (readSpan(cell(row, 'time'), isBank)) return false
  const [first = ''] = row.cells.filter((each) => each.trim() !== '')
  return footer.test(first.trim()) || (!hasMoved(row, cell) && !/^[0-9A-Z]{6,}$/i.test(cell(row, 'receipt')))
}

const shown = (text: string): string => `"${text.slice(0, 40)}"`

const amountIn = (row: Row, { cell, currency }: Table, column: 'in' | 'out' | 'amount') => {
  const text = cell(row, column)
  const { amount, mark } = readMarked(text, currency)
  if (amount === undefined || (mark && column !== 'amount' && mark !== column))
    throw new Unreadable(
      `${shown(text)} is not an amount${amount === undefined ? '' : ' of its column'}: expected ${knownAmounts}`,
    )
  return { amount, mark }
}

const firstSigned = (rows: readonly Row[], { cell, currency }: Table, column: 'out' | 'amount', sign: 1 | -1): Row | undefined =>
  rows.find((row) => (readMarked(cell(row, column), currency).amount ?? 0n) * BigInt(sign) > 0n)

/** Whether outgoing amounts are negative. Mixed signs are an error: either sign could be money that came back. */
const isOutNegative = (rows: readonly Row[], table: Table): boolean => {
  const [negative, positive] = [firstSigned(rows, table, 'out', -1), firstSigned(rows, table, 'out', 1)]
  if (negative && positive)
    throw new Unreadable(
      `line ${Math.max(negative.number, positive.number)}: the column of what goes out has amounts of both signs, so it is not known which of them went out: export it with one sign`,
    )
  return negative !== undefined
}

const amountsOf = (row: Row, table: Table, isSigned: boolean): { paidIn: bigint | null; paidOut: bigint | null } => {
  const { places, cell } = table
  if (places.amount === undefined)
    return { paidIn: amountIn(row, table, 'in').amount, paidOut: amountIn(row, table, 'out').amount }
  const { amount, mark } = amountIn(row, table, 'amount')
  if (!amount) return { paidIn: amount, paidOut: null }
  const stated: Direction | undefined = mark ?? readDirection(cell(row, 'direction'))
  const direction = stated ?? (isSigned ? (amount > 0n ? 'in' : 'out') : undefined)
  if (direction === undefined)
    throw new Unreadable(
      `nothing says whether ${shown(cell(row, 'amount'))} came in or went out: export debit and credit in two columns, or an amount with a sign, or with DR or CR`,
    )
  if (stated === 'in' && amount < 0n) throw new Unreadable(`${shown(cell(row, 'amount'))} is negative, and called a credit`)
  const size = amount < 0n ? -amount : amount
  return direction === 'in' ? { paidIn: size, paidOut: null } : { paidIn: null, paidOut: size }
}

const longestWord = 40

/** Splits texts into words in two ways, because a separator may also be part of a receipt. */
const wordsIn = (texts: readonly string[]): string[] => {
  const words = texts.flatMap((text) => [...text.split(/[\s,;:|()/]+/), ...text.split(/[^0-9A-Za-z]+/)])
  return [...new Set(words)].filter((word) => word.length >= 4 && word.length <= longestWord)
}

const lineOf = (row: Row, table: Table, { outSign, isSigned }: { outSign: bigint; isSigned: boolean }): StatementLine | null => {
  const { cell, textsOf, form, columns, isBank } = table
  // Exports omit empty cells at the end of a row, so extra cells mean that a separator within a cell shifted the others.
  if (filledWidth(row.cells) > columns) throw new Unreadable(rowProblem(row.cells, columns) ?? 'it has too many cells')
  const [receipt, timeText] = [cell(row, 'receipt'), cell(row, 'time')]
  if (receipt === '' && !isBank) throw new Unreadable('it has no receipt')
  const time = readSpan(timeText, isBank)
  if (!time) throw new Unreadable(`${shown(timeText)} is no time that exists: expected ${knownTimes}`)
  const { paidIn, paidOut } = amountsOf(row, table, isSigned)
  if (paidIn === null && paidOut === null) throw new Unreadable(`it has no amount: expected one such as ${knownAmounts}`)
  if (paidIn && paidOut) throw new Unreadable('it has an amount that came in and one that went out: expected one of them')
  const amountMinor = (paidIn ?? 0n) + outSign * (paidOut ?? 0n)
  if (amountMinor === 0n) return null
  const [party, account, linked] = [cell(row, 'party'), cell(row, 'account'), cell(row, 'linked')]
  const texts = textsOf(row)
  return {
    receipt: isBank ? null : receipt,
    at: time.at,
    amountMinor,
    references: form.referencesIn(isBank ? texts.map((text) => text.replaceAll('_', ' ')) : texts),
    ...(isBank && { words: wordsIn(texts), details: texts.find((text) => text !== '')?.slice(0, 60) ?? '' }),
    ...(time.until > time.at && { until: time.until }),
    ...(party !== '' && { party }),
    ...(account !== '' && { account }),
    ...(linked !== '' && { linked }),
    ...(amountMinor < 0n && isChargeText(cell(row, 'details')) && { isCharge: true as const }),
  }
}

/** Rows per turn of the event loop. */
const chunkSize = 1_000

function* readTable(rows: readonly Row[], table: Table): Generator<void, Pick<Statement, 'lines' | 'unfinished'>> {
  const lines: StatementLine[] = []
  const unfinished: StatementLine[] = []
  const { cell, form } = table
  const signs = {
    outSign: table.places.amount === undefined && isOutNegative(rows, table) ? 1n : -1n,
    isSigned: firstSigned(rows, table, 'amount', -1) !== undefined,
  }
  for (const [index, row] of rows.entries()) {
    if (index % chunkSize === 0) yield
    const status = plain(cell(row, 'status'))
    const isDone = status === '' || form.completed.includes(status)
    try {
      const line = lineOf(row, table, signs)
      if (line) (isDone ? lines : unfinished).push(line)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      // A movement that is not completed may lack an amount; its text is still searched for names.
      if (isDone) throw new Unreadable(`line ${row.number} cannot be read: ${error.message}`)
    }
  }
  return { lines, unfinished }
}

export type ReadStatement = Statement | { problem: string }

/** Looks for a provider's own column names first, then for titles that a bank may use. */
const layoutIn = (rows: readonly Row[], own: OwnTitles) => {
  const finders = [
    ...providers.map((provider) => ({ provider, rows, find: (row: Row) => findForm(definitions[provider].statement, row) })),
    ...providers
      .filter((provider) => definitions[provider].statement.isOfBank)
      .map((provider) => ({ provider, rows: rows.slice(0, rowsLookedAt), find: (row: Row) => findBank(row, own) })),
  ]
  for (const { provider, rows: looked, find } of finders)
    for (const [index, row] of looked.entries()) {
      const layout = find(row)
      if (layout) return { provider, layout, index, header: row }
    }
  return null
}

/** Yields after each chunk: reading a whole statement in one turn of the event loop would delay every other request. */
export function* readInChunks(
  text: string,
  { CURRENCY: currency, STATEMENT_COLUMNS: own = {} }: StatementSettings,
): Generator<void, ReadStatement> {
  // Without the byte order mark, because a quotation mark after it would not begin its cell.
  const rows = readRows(text.replace(/^\ufeff/, ''))
  yield
  if ('problem' in rows) return { problem: `it ${rows.problem}` }
  const found = layoutIn(rows, own)
  if (!found) return { problem: titlesProblem(rows, own, providerLabels.join(' or ')) }
  const { provider, layout, index, header } = found
  const { statement: form } = definitions[provider]
  const textAt = (row: Row, column: number) => (row.cells[column] ?? '').trim()
  const cell: Cell = (row, column) => textAt(row, layout.places[column] ?? -1)
  const textsOf = (row: Row) => layout.texts.map((column) => textAt(row, column))
  const table: Table = { ...layout, cell, textsOf, form, columns: header.cells.length, currency }
  const isHeader = ({ cells }: Row) => header.cells.every((title, column) => plain(cells[column] ?? '') === plain(title))
  const below = rows.slice(index + 1).filter((row) => !isHeader(row) && !isFooter(row, table))
  try {
    const heading = readHeading(rows.slice(0, index), form)
    return { provider, heading, ...(yield* readTable(below, table)), text: squeezed(text) }
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message }
    throw error
  }
}
