/** `number`: from 1, as a spreadsheet numbers rows. Empty rows are omitted, but counted. */
export type TableRow = { number: number; cells: string[] }

export const filledWidth = (cells: readonly string[]): number => cells.findLastIndex((cell) => cell !== '') + 1

/** The problem of a row with a filled cell but no title, or the reverse: its cells have moved, so none is trusted. Null: none. */
export const rowProblem = (cells: readonly string[], columns: number): string | null => {
  const found = Math.max(filledWidth(cells), Math.min(cells.length, columns))
  if (found > columns)
    return `${found} cells, ${columns} columns: quote an amount with a comma ("12,500"), and any other cell with a separator in it`
  return found < columns ? `${found} cells, ${columns} columns: a cell is missing; an empty one needs its separator too` : null
}

/** Drops headings: rows above the titles with one filled cell, such as the company's name. Titles have at least two. */
export const withoutHeadings = (rows: readonly TableRow[]): readonly TableRow[] => {
  const titles = rows.findIndex(({ cells }) => cells.filter((cell) => cell !== '').length > 1)
  return titles > 0 ? rows.slice(titles) : rows
}
