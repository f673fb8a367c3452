import type { TableRow } from './table-rows.ts'

// Reads all tables that people provide: payment batches and provider statements, from the API, the command line and pages.
// Ambiguous content is a problem, whose text says what to do.

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
/** Magic numbers of a zip archive (xlsx, ods, numbers) and of a compound file (xls). */
const workbooks = [
  [0x50, 0x4b, 0x03, 0x04],
  [0xd0, 0xcf, 0x11, 0xe0],
]

const beginsWith = (bytes: Uint8Array, first: readonly number[]): boolean => first.every((byte, index) => bytes[index] === byte)

const decoderOf = (charset: string): InstanceType<typeof TextDecoder> | null => {
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch {
    return null
  }
}

/** Encoding: by byte order mark, else `charset` (an Encoding Standard label), else UTF-8. `problem` completes a sentence. */
export const textOfFile = (bytes: Uint8Array, charset?: string): string | Problem => {
  if (workbooks.some((first) => beginsWith(bytes, first))) return { problem: workbookProblem }
  const marked = marks.find((mark) => beginsWith(bytes, mark.bytes))
  const declared = marked?.charset ?? charset ?? 'utf-8'
  const decoder = decoderOf(declared)
  if (!decoder) return { problem: `has a charset that is not known, "${declared.slice(0, 40)}": ${inAnotherEncoding}` }
  try {
    // In two steps, because Node.js 20 decodes windows-1252 as latin1 in a single step, without quotation marks and €.
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

const maxColumns = 64
/** Maximum number of rows, including empty ones. A megabyte of a batch or statement never has that many. */
const maxLines = 20_000
/** In characters. */
const maxRowLength = 65_536
const maxCellLength = 8_192

/** Spreadsheets in many locales write `;`, and copied cells are separated by tabs. */
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

/** The separator that splits the most rows into the same number of cells, unlike commas in amounts and texts. */
const separatorOf = (text: string): string => {
  const lines = text
    .slice(0, sampleLength)
    .replace(quoted, '')
    .split(/[\r\n]+/)
  const found = separators.map((separator) => ({ separator, regular: regularity(lines, separator) }))
  const [best] = found.sort(({ regular: one }, { regular: other }) => other[0] - one[0] || other[1] - one[1])
  return best?.separator ?? ','
}

const tooLong = (rows: number): Problem => ({ problem: `has more than ${rows} rows: split it, and remove empty rows` })
const notClosed: Problem = { problem: 'is not CSV: a quotation mark opens a cell, and none closes it' }
const notAlone: Problem = { problem: 'is not CSV: in a cell, more text follows the quotation mark that closes it' }

/** A quotation mark that does not begin its cell is ordinary text. */
const readCell = (text: string, start: number, separator: string): { text: string; end: number } | Problem => {
  const endAfter = (from: number): number => {
    let index = from
    while (index < text.length && text[index] !== separator && text[index] !== '\n' && text[index] !== '\r') index += 1
    return index
  }
  let open = start
  while (text[open] !== separator && (text[open] === ' ' || text[open] === '\t')) open += 1
  if (text[open] !== '"') {
    const end = endAfter(open)
    return { text: text.slice(open, end).trim(), end }
  }
  let close = text.indexOf('"', open + 1)
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close === -1) return notClosed
  const end = endAfter(close + 1)
  if (text.slice(close + 1, end).trim() !== '') return notAlone
  return { text: text.slice(open + 1, close).replaceAll('""', '"'), end }
}

/**
 * Reads CSV as in RFC 4180 and spreadsheets' variants of it, including titles. A first line `sep=;` is not a row. Checks limits
 * on rows, columns and characters first, so that time grows only with the file's size. `problem` completes a sentence.
 */
export const readRows = (text: string, maxRows = maxLines): TableRow[] | Problem => {
  const named = sepLine.exec(text)
  let index = named?.[0].length ?? 0
  const separator = named?.[1] ?? separatorOf(text)
  const rows: TableRow[] = []
  for (let number = 1; index < text.length; number += 1) {
    if (number > maxLines || rows.length > maxRows) return tooLong(Math.min(maxLines, maxRows))
    const start = index
    const cells: string[] = []
    let [width, column] = [0, 0]
    for (let isOpen = true; isOpen; column += 1) {
      const cell = readCell(text, index, separator)
      if ('problem' in cell) return cell
      if (cell.text.length > maxCellLength)
        return { problem: `has more than ${maxCellLength} characters in a cell of row ${number}` }
      if (cell.end - start > maxRowLength) return { problem: `has more than ${maxRowLength} characters in row ${number}` }
      if (cell.text !== '') width = column + 1
      if (column < maxColumns) cells.push(cell.text)
      isOpen = text[cell.end] === separator
      index = cell.end + 1
    }
    if (width > maxColumns) return { problem: `has ${width} columns: at most ${maxColumns} are read` }
    if (width > 0) rows.push({ number, cells })
    if (text[index - 1] === '\r' && text[index] === '\n') index += 1
  }
  return rows
}
