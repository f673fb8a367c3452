/** `number`: the row's number in a spreadsheet, from 1. Empty rows are omitted but counted. */
export type TableRow = { number: number; cells: string[] }

export const filledWidth = (cells: readonly string[]): number => cells.findLastIndex((cell) => cell !== '') + 1

/** The problem of a row whose filled cells do not match the titles: its cells have shifted, so none is trusted. Null if none. */
export const rowProblem = (cells: readonly string[], columns: number): string | null => {
  const found = Math.max(filledWidth(cells), Math.min(cells.length, columns))
  if (found > columns)
    return `${found} cells, ${columns} columns: quote an amount with a comma ("12,500"), and any other cell with a separator in it`
  return found < columns ? `${found} cells, ${columns} columns: a cell is missing; an empty one needs its separator too` : null
}

/** Removes rows above the titles, which have a single filled cell, such as the company's name. Titles have at least two. */
export const withoutHeadings = (rows: readonly TableRow[]): readonly TableRow[] => {
  const titles = rows.findIndex(({ cells }) => cells.filter((cell) => cell !== '').length > 1)
  return titles > 0 ? rows.slice(titles) : rows
}
