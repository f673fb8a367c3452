import { CsvError, parse } from 'csv-parse/sync'
import { filledWidth, type TableRow } from './table-rows.ts'

// The one reader of tables that people send: lists of payments and providers' statements, by API, command line and page. What could mean two things is
// a problem, in words that say what to do.

type Problem = { problem: string }

const inAnotherEncoding =
  'save it as "CSV UTF-8", or declare its encoding by a charset, such as windows-1252 for a list that Excel saved as plain CSV'
export const workbookProblem =
  'is a workbook (xlsx or xls), not CSV: open it in Excel, LibreOffice or Google Sheets, save it as "CSV UTF-8", and send that file'

const marks = [
  { bytes: [0xef, 0xbb, 0xbf], charset: 'utf-8' },
  { bytes: [0xff, 0xfe], charset: 'utf-16le' },
  { bytes: [0xfe, 0xff], charset: 'utf-16be' },
]
/** The first bytes of a zip archive (xlsx, ods, numbers) and of a compound file (xls). */
const workbooks = [
  [0x50, 0x4b, 0x03, 0x04],
  [0xd0, 0xcf, 0x11, 0xe0],
]

const beginsWith = (bytes: Uint8Array, first: readonly number[]): boolean => first.every((byte, at) => bytes[at] === byte)

const decoderOf = (charset: string): InstanceType<typeof TextDecoder> | null => {
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch {
    return null
  }
}

/** A byte order mark decides the encoding, then `charset` (any label of the Encoding Standard), then it is UTF-8. The problem ends a sentence about the file. */
export const textOfFile = (bytes: Uint8Array, charset?: string): string | Problem => {
  if (workbooks.some((first) => beginsWith(bytes, first))) return { problem: workbookProblem }
  const marked = marks.find((mark) => beginsWith(bytes, mark.bytes))
  const declared = marked?.charset ?? charset ?? 'utf-8'
  const decoder = decoderOf(declared)
  if (!decoder) return { problem: `has a charset that is not known, "${declared.slice(0, 40)}": ${inAnotherEncoding}` }
  try {
    // In two steps: in one, Node.js 20 reads windows-1252 as latin1, without its quotation marks and €.
    const text = decoder.decode(bytes, { stream: true }) + decoder.decode()
    if (text.includes('\0'))
      return { problem: `has NUL characters, as UTF-16 without a byte order mark does: ${inAnotherEncoding}` }
    return /^\s*<(?:\?xml|!doctype|html|table)/i.test(text) ? { problem: workbookProblem } : text
  } catch {
    return {
      problem: `is not ${charset === undefined || marked ? decoder.encoding.toUpperCase() : declared}: ${inAnotherEncoding}`,
    }
  }
}

const mostColumns = 64
/** In characters: a file of one row with a million cells takes a second to read. */
const longestRow = 65_536

/** Spreadsheets of many locales write `;`, and what is copied from one has tabs. */
const separators = [',', ';', '\t'] as const
const sepLine = /^"?sep=([^"\r\n])"?[,;\t]*(?:\r\n|\r|\n|$)/i
const quoted = /(?<=^|[,;\t\r\n])"(?:[^"]|"")*"/g
const sampleLength = 20_000

const regularity = (lines: readonly string[], separator: string): readonly [rows: number, cells: number] => {
  const counts = Map.groupBy(
    lines.map((line) => line.split(separator).length - 1).filter((count) => count > 0),
    (count) => count,
  )
  return [...counts].reduce<readonly [number, number]>(
    (best, [count, { length }]) => (length > best[0] || (length === best[0] && count > best[1]) ? [length, count] : best),
    [0, 0],
  )
}

/** The one that divides the most rows alike: commas within amounts and texts do not. */
const separatorOf = (text: string): string => {
  const lines = text
    .slice(0, sampleLength)
    .replace(quoted, '')
    .split(/[\r\n]+/)
  const found = separators.map((separator) => ({ separator, regular: regularity(lines, separator) }))
  const [best] = found.sort(({ regular: one }, { regular: other }) => other[0] - one[0] || other[1] - one[1])
  return best?.separator ?? ','
}

/** RFC 4180, and what spreadsheets make of it; titles included. A first line `sep=;` is no row to a spreadsheet. The problem ends a sentence about the file. */
export const readRows = (text: string): TableRow[] | Problem => {
  const named = sepLine.exec(text)
  const body = named ? text.slice(named[0].length) : text
  try {
    const records = parse(body, {
      delimiter: named?.[1] ?? separatorOf(body),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      trim: true,
      max_record_size: longestRow,
    })
    const rows = records.map((cells, index) => ({ number: index + 1, cells, width: filledWidth(cells) }))
    const wide = rows.find(({ width }) => width > mostColumns)
    if (wide) return { problem: `has ${wide.width} columns: at most ${mostColumns} are read` }
    return rows.flatMap(({ number, cells, width }) => (width > 0 ? [{ number, cells }] : []))
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    // The library names the line where the file ends.
    const isOpen = error.code === 'CSV_QUOTE_NOT_CLOSED'
    return { problem: `is not CSV: ${isOpen ? 'a quotation mark opens a cell, and none closes it' : error.message}` }
  }
}
