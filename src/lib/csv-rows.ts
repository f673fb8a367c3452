import { CsvError, parse } from 'csv-parse/sync'

/** How a list separates its cells: spreadsheets of many locales write `;`, and what is copied from one has tabs. */
const separators = [',', ';', '\t'] as const

const separatorOf = (text: string): string => {
  const [first = ''] = text.trimStart().split(/\r?\n/, 1)
  const count = (separator: string) => first.split(separator).length
  return separators.reduce((best, separator) => (count(separator) > count(best) ? separator : best))
}

/** In characters. A file of one row with a million cells takes a second to read. */
const longestRow = 65_536

/** The cells of each row (RFC 4180), empty rows included, so that a row's place is its number in a spreadsheet. */
export const readCsvRows = (
  text: string,
  { separator = separatorOf(text) }: { separator?: string } = {},
): string[][] | { problem: string } => {
  try {
    return parse(text, {
      bom: true,
      delimiter: separator,
      relax_column_count: true,
      relax_quotes: true,
      trim: true,
      max_record_size: longestRow,
    })
  } catch (error) {
    if (error instanceof CsvError) return { problem: `is not CSV: ${error.message}` }
    throw error
  }
}
