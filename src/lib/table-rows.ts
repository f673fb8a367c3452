/** `number`: from 1, as a spreadsheet numbers it. Empty rows are left out, and count. */
export type TableRow = { number: number; cells: string[] }

export const filledWidth = (cells: readonly string[]): number => cells.findLastIndex((cell) => cell !== '') + 1

/** A filled cell without a title, or a title without a cell, says that the cells have moved: none of them can be trusted. Null: nothing is wrong. */
export const rowProblem = (cells: readonly string[], columns: number): string | null => {
  const found = Math.max(filledWidth(cells), Math.min(cells.length, columns))
  if (found > columns)
    return `${found} cells, ${columns} columns: quote an amount with a comma ("12,500"), and any other cell with a separator in it`
  return found < columns ? `${found} cells, ${columns} columns: a cell is missing; an empty one needs its separator too` : null
}

/** Drops headings: rows above the titles with one filled cell, such as the company's name. The titles have at least two. */
export const withoutHeadings = (rows: readonly TableRow[]): readonly TableRow[] => {
  const titles = rows.findIndex(({ cells }) => cells.filter((cell) => cell !== '').length > 1)
  return titles > 0 ? rows.slice(titles) : rows
}
