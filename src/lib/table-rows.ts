/** A row of a file. `number`: from 1, as a spreadsheet numbers it. Empty rows are left out, and count. */
export type TableRow = { number: number; cells: string[] }

/** How many cells there are up to the last that is filled. */
export const filledWidth = (cells: readonly string[]): number => cells.findLastIndex((cell) => cell !== '') + 1

/**
 * What is wrong with a row below a title row of this many cells; null for nothing. A filled cell without a title, or a title without a cell,
 * says that the cells have moved: none of them can be trusted.
 */
export const rowProblem = (cells: readonly string[], columns: number): string | null => {
  const found = Math.max(filledWidth(cells), Math.min(cells.length, columns))
  if (found > columns)
    return `${found} cells, ${columns} columns: quote an amount with a comma ("12,500"), and any other cell with a separator in it`
  return found < columns ? `${found} cells, ${columns} columns: a cell is missing; an empty one needs its separator too` : null
}
