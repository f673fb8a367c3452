import { z } from 'zod'
import type { Minor } from '../../../lib/money.ts'
import { type Provider, providers } from '../../../lib/rail-names.ts'
import { readRows } from '../../../lib/table-file.ts'
import { filledWidth, type TableRow as Row, rowProblem } from '../../../lib/table-rows.ts'
import { definitions } from '../../../rails/definitions.ts'
import type { Movement } from '../../../rails/rail.ts'
import { providerLabels } from '../../../rails/texts.ts'

/** `until`: the end of its day, where it states no time. `party`: masked; `account`: at a paybill; `linked`: the receipt that it undoes. */
export type StatementLine = Movement & {
  until?: Date
  party?: string
  account?: string
  linked?: string
  isCharge?: true
}

/** Its lines are of money that has moved. */
export type Statement = {
  provider: Provider
  lines: readonly StatementLine[]
  /** Movements that are not completed: evidence of nothing, but named. */
  unfinished: readonly StatementLine[]
  heading: { number: string | null; account: string | null; period: { start: Date | undefined; end: Date | undefined } }
  text: string
}

export const squeezed = (text: string): string => text.toUpperCase().replace(/[^0-9A-Z]/g, '')

// What could mean two things, or nothing, is refused: a cell is never read by half.

type Span = { at: Date; until: Date }

const largest = 10n ** 17n
const dayMs = 86_400_000
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const date = String.raw`(?:(?<y>\d{4})[-/.](?<m>\d\d?)[-/.](?<d>\d\d?)|(?<d2>\d\d?)[-/. ](?<m2>\d\d?|[A-Za-z]{3,9})[-/. ,]{1,2}(?<y2>\d{4}))`
const clock = String.raw`(?<h>\d\d?):(?<min>\d\d)(?::(?<s>\d\d)(?:\.\d{1,9})?)?(?:\s?(?<half>[AaPp])\.?[Mm]\.?)?\s?(?<zone>Z|[+-]\d\d:?\d\d|EAT)?`
const spread = new RegExp(`^${date}(?:(?:[T ]|,\\s)\\s?${clock})?$`)
const compact = /^(?<y>\d{4})(?<m>\d\d)(?<d>\d\d)(?<h>\d\d)(?<min>\d\d)(?<s>\d\d)$/
const withinText = new RegExp(`${date}(?:(?:[T ]|,\\s)\\s?${clock})?`.replace(/\?<\w+>/g, ''), 'g')

type Parts = Readonly<Record<string, string | undefined>>

const monthOf = (text: string): number => (/^\d/.test(text) ? Number(text) : months.indexOf(text.slice(0, 3).toLowerCase()) + 1)

/** Not a number for what does not exist, such as 14:33 PM. */
const hourOf = ({ h = '0', half }: Parts): number => {
  const hour = Number(h)
  if (half === undefined) return hour
  return hour < 1 || hour > 12 ? Number.NaN : (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}

const zoneOf = ({ zone = 'EAT' }: Parts): string => (zone === 'EAT' ? '+03:00' : zone.replace(/(?<=\d\d)(?=\d\d$)/, ':'))

const instant = z.iso.datetime({ offset: true })
/** An earlier one is what a program writes for no time: 0001, 1899, 1970. */
const firstYear = 2000

/** Year first, or day first as in Kenya. Nairobi's time unless a zone is written. Undefined for all else, and for what does not exist. */
const readSpan = (text: string): Span | undefined => {
  const trimmed = text.replace(/[\u00a0\u202f\s]+/g, ' ').trim()
  const parts: Parts | undefined = (spread.exec(trimmed) ?? compact.exec(trimmed))?.groups
  if (!parts) return undefined
  const two = (part: string | number = 0) => String(part).padStart(2, '0')
  const day = `${parts.y ?? parts.y2}-${two(monthOf(parts.m ?? parts.m2 ?? ''))}-${two(parts.d ?? parts.d2)}`
  const iso = `${day}T${two(hourOf(parts))}:${two(parts.min)}:${two(parts.s)}${zoneOf(parts)}`
  if (!instant.safeParse(iso).success) return undefined
  const at = new Date(iso)
  if (at.getUTCFullYear() < firstYear) return undefined
  return { at, until: parts.h === undefined ? new Date(at.getTime() + dayMs - 1) : at }
}

/** "From 01-03-2026 00:00:00 To 31-03-2026". */
const spansIn = (text: string): Span[] => (text.match(withinText) ?? []).flatMap((each) => readSpan(each) ?? [])

const knownTimes = '2026-03-31 14:05:00, 31-03-2026 14:05:00, 31/03/2026 02:05 PM, or a date alone'

/** `1,500.00`, `1 500.00`, `1.500,00`, `1'500`, `1500.5`, `1500,50`. */
const forms = [
  /^(?<whole>\d{1,15}|\d{1,3}(?:,\d{3})+)(?:\.(?<cents>\d{1,2})(?:(?<=\.\d\d)00)?)?$/,
  /^(?<whole>\d{1,3}(?:[ '’]\d{3})+)(?:[.,](?<cents>\d{1,2}))?$/,
  /^(?<whole>\d{1,15}|\d{1,3}(?:\.\d{3})+),(?<cents>\d{1,2})$/,
  /^(?<whole>\d{1,3}(?:\.\d{3}){2,})$/,
]

/** `(1,500.00)`, `-1,500.00` and `1,500.00-` are negative. Null: there is none. Undefined: it cannot be read. */
const readAmount = (text: string): Minor | null | undefined => {
  const plain = text
    .replace(/[\u00a0\u202f\u2009\s]+/g, ' ')
    .replace(/[\u2212\u2013]/g, '-')
    .trim()
  if (plain === '' || /^-+$/.test(plain)) return null
  const inner = /^\((.*)\)$/.exec(plain)?.[1] ?? plain
  const unsigned = inner.replace(/^(?:KES|KSH\.?)\s?/i, '').replace(/\s?(?:KES|KSH\.?)$/i, '')
  const [, before = '', digits = '', after = ''] = /^([+-]?)\s?(?:(?:KES|KSH\.?)\s?)?([\d.,' ’]*\d)\s?(-?)$/i.exec(unsigned) ?? []
  const negatives = [inner !== plain, before === '-', after === '-'].filter(Boolean).length
  const parts = forms.map((form) => form.exec(digits)?.groups).find((found) => found !== undefined)
  if (!parts?.whole || negatives > 1) return undefined
  const minor = BigInt(parts.whole.replace(/\D/g, '')) * 100n + BigInt((parts.cents ?? '').padEnd(2, '0'))
  if (minor >= largest) return undefined
  return negatives === 1 ? -minor : minor
}

const knownAmounts = '1500.00, 1,500.00, 1 500.00, 1.500,00, -1,500.00 or (1,500.00)'

type Form = (typeof definitions)[keyof typeof definitions]['statement']
type Cell = (row: Row, column: Exclude<keyof Form['columns'], 'texts'>) => string
type Table = { cell: Cell; textsOf: (row: Row) => string[]; form: Form; columns: number }

/** A statement that is read by half would show differences that do not exist. */
class Unreadable extends Error {}

const plain = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, ' ')

/** "Business Payment Charge": what is charged stands before whom it is for, so a payee's name makes no charge of a payment. */
const isChargeText = (details: string): boolean => {
  const [head = ''] = details.trim().split(/\s(?:to|from|via|by|of)\s|[-:;,(.]/i, 1)
  return /^charges?\b|\bcharges?$/i.test(head.trim())
}

/** Each in one cell or in two: "Short Code:,600998", "Short Code: 600998". */
const readHeading = (rows: readonly Row[], { heading }: Form): Statement['heading'] => {
  const said = rows.flatMap(({ cells }) =>
    cells.flatMap((cell, index) => {
      const [label = '', ...rest] = cell.split(':')
      const value = rest.join(':').trim() || (cells.slice(index + 1).find((next) => next.trim() !== '') ?? '')
      return label.trim() === '' ? [] : [{ label: plain(label), value: value.trim() }]
    }),
  )
  const valuesOf = (labels: readonly string[]) => said.flatMap(({ label, value }) => (labels.includes(label) ? [value] : []))
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
  /^(?:(?:sub|grand)[ -]?)?totals?\b|^(?:opening|closing|available|current|ledger) balance\b|^page\b|^(?:\W*end of|disclaimer|notes?\b|generated|printed|this (?:statement|is|document))/i

/** Totals, page numbers and sentences: they state no time, and no receipt. */
const isFooter = (row: Row, cell: Cell): boolean => {
  if (readSpan(cell(row, 'time'))) return false
  const [first = ''] = row.cells.filter((each) => each.trim() !== '')
  const hasAmount = cell(row, 'in') !== '' || cell(row, 'out') !== ''
  return footer.test(first.trim()) || (!hasAmount && !/^[0-9A-Z]{6,}$/i.test(cell(row, 'receipt')))
}

const shown = (text: string): string => `"${text.slice(0, 40)}"`

const amountIn = (row: Row, cell: Cell, column: 'in' | 'out'): bigint | null => {
  const text = cell(row, column)
  const amount = readAmount(text)
  if (amount === undefined) throw new Unreadable(`${shown(text)} is no amount: expected ${knownAmounts}`)
  return amount
}

/** Where what goes out is positive, a negative amount is money that came back. */
const isOutNegative = (rows: readonly Row[], cell: Cell): boolean => {
  const signed = rows.map((row) => ({ row, amount: readAmount(cell(row, 'out')) ?? 0n }))
  const negative = signed.filter(({ amount }) => amount < 0n)
  const positive = signed.find(({ amount }) => amount > 0n)
  if (negative[0] && positive) {
    const row = negative[0].row.number > positive.row.number ? negative[0].row : positive.row
    throw new Unreadable(
      `line ${row.number}: the column of what goes out has amounts of both signs, so it is not known which of them went out: export it with one sign`,
    )
  }
  return negative.length > 0
}

const readLine = (row: Row, { cell, textsOf, form, columns }: Table, outSign: bigint): StatementLine | null => {
  // A separator within a cell has moved the cells behind it. Exports leave out empty cells at the end of a row.
  if (filledWidth(row.cells) > columns) throw new Unreadable(rowProblem(row.cells, columns) ?? 'it has too many cells')
  const [receipt, timeText] = [cell(row, 'receipt'), cell(row, 'time')]
  if (receipt === '') throw new Unreadable('it has no receipt')
  const time = readSpan(timeText)
  if (!time) throw new Unreadable(`${shown(timeText)} is no time that exists: expected ${knownTimes}`)
  const [paidIn, paidOut] = [amountIn(row, cell, 'in'), amountIn(row, cell, 'out')]
  if (paidIn === null && paidOut === null) throw new Unreadable(`it has no amount: expected one such as ${knownAmounts}`)
  if (paidIn && paidOut) throw new Unreadable('it has an amount that came in and one that went out: expected one of them')
  const amountMinor = (paidIn ?? 0n) + outSign * (paidOut ?? 0n)
  if (amountMinor === 0n) return null
  const [party, account, linked] = [cell(row, 'party'), cell(row, 'account'), cell(row, 'linked')]
  return {
    receipt,
    at: time.at,
    amountMinor,
    references: form.referencesIn(textsOf(row)),
    ...(time.until > time.at && { until: time.until }),
    ...(party !== '' && { party }),
    ...(account !== '' && { account }),
    ...(linked !== '' && { linked }),
    ...(amountMinor < 0n && isChargeText(cell(row, 'details')) && { isCharge: true as const }),
  }
}

/** Read in one turn of the event loop. */
const portion = 1_000

function* readTable(rows: readonly Row[], table: Table): Generator<void, Pick<Statement, 'lines' | 'unfinished'>> {
  const lines: StatementLine[] = []
  const unfinished: StatementLine[] = []
  const { cell, form } = table
  const outSign = isOutNegative(rows, cell) ? 1n : -1n
  for (const [index, row] of rows.entries()) {
    if (index % portion === 0) yield
    const status = plain(cell(row, 'status'))
    const isDone = status === '' || form.completed.includes(status)
    try {
      const line = readLine(row, table, outSign)
      if (line) (isDone ? lines : unfinished).push(line)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      // What has not moved may lack an amount; its text is searched for names all the same.
      if (isDone) throw new Unreadable(`line ${row.number} cannot be read: ${error.message}`)
    }
  }
  return { lines, unfinished }
}

export type ReadStatement = Statement | { problem: string }

/** Stops after each portion: a whole statement in one turn of the event loop would hold up every other request. */
export function* readInPortions(text: string): Generator<void, ReadStatement> {
  const rows = readRows(text)
  yield
  if ('problem' in rows) return { problem: `it ${rows.problem}` }
  for (const provider of providers) {
    const form = definitions[provider].statement
    const at = (names: readonly string[], header: readonly string[]) => header.findIndex((name) => names.includes(name))
    const isHeader = ({ cells }: Row) => {
      const header = cells.map(plain)
      const { receipt, time, in: paidIn, out } = form.columns
      return [receipt, time, paidIn, out].every((names) => at(names, header) >= 0)
    }
    const headerAt = rows.findIndex(isHeader)
    const header = rows[headerAt]?.cells.map(plain)
    if (!header) continue
    const textAt = (row: Row, place: number) => (row.cells[place] ?? '').trim()
    const { texts: _, ...named } = form.columns
    const places = Object.fromEntries(Object.entries(named).map(([column, names]) => [column, at(names, header)]))
    const cell: Cell = (row, column) => textAt(row, places[column] ?? -1)
    const textsOf = (row: Row) => form.columns.texts.map((name) => textAt(row, header.indexOf(name)))
    const below = rows.slice(headerAt + 1).filter((row) => !isHeader(row) && !isFooter(row, cell))
    try {
      return {
        provider,
        heading: readHeading(rows.slice(0, headerAt), form),
        ...(yield* readTable(below, { cell, textsOf, form, columns: header.length })),
        text: squeezed(text),
      }
    } catch (error) {
      if (error instanceof Unreadable) return { problem: error.message }
      throw error
    }
  }
  const known = providerLabels.join(' or ')
  return { problem: `it has no row with the column names of a statement from ${known}` }
}
