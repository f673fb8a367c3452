/** Spreadsheets interpret a cell that begins with one of these characters as a formula, unless it is a plain number. */
const formula = /^[=+\-@\t\r]/
const number = /^-?\d+(\.\d+)?$/
/** Many locales separate cells by `;` or tab, even inside quotes, so the text after a separator may begin a formula. */
const laterFormula = /([;\t]["']*)(?=[=+\-@])/g

const cell = (value: string | null): string => {
  if (value === null) return ''
  const later = value.replaceAll(laterFormula, "$1'")
  const safe = formula.test(later) && !number.test(later) ? `'${later}` : later
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A CSV line (RFC 4180) that is safe to open in a spreadsheet. */
export const csvLine = (cells: readonly (string | null)[]): string => `${cells.map(cell).join(',')}\r\n`

/** Without a byte order mark, Excel assumes the computer's own encoding: "Chébet" becomes "ChÃ©bet". */
const byteOrderMark = '\uFEFF'

export const csvHeader = (names: readonly string[]): string => byteOrderMark + csvLine(names)
