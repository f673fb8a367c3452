import type { Page } from '../pages.ts'
import type { Terminal } from './terminal.ts'

/** Prints rows with aligned columns. The columns in `right` hold amounts and align right. */
export const sayTable = (rows: readonly (readonly string[])[], out: Terminal['out'], right: readonly number[]): void => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const padded = (cell: string, column: number): string =>
    right.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  for (const row of rows) out(row.map(padded).join('  ').trimEnd())
}

/** Title, cell text and alignment of a column. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => string, right?: 'right']

/** Prints a table with titles for a person, or a sentence if there are no rows. */
export const sayList = <Row>({ out, say }: Terminal, columns: readonly Column<Row>[], rows: readonly Row[]): void => {
  if (rows.length === 0) say('No entries.')
  const titles = columns.map(([title]) => title)
  const right = columns.flatMap(([, , side], index) => (side ? [index] : []))
  if (rows.length > 0) sayTable([titles, ...rows.map((row) => columns.map(([, cell]) => cell(row)))], out, right)
}

/** Prints a page: a table for a person or, with --json, one line of JSON for each item. Says if the list has more. */
export const sayPage = <Row>(
  terminal: Terminal,
  columns: readonly Column<Row>[],
  { data, next_cursor }: Page<Row>,
  asJson: boolean | undefined,
): void => {
  if (asJson) for (const row of data) terminal.out(JSON.stringify(row))
  else sayList(terminal, columns, data)
  if (next_cursor !== null) terminal.say(`The list has more than these ${data.length}: --limit takes up to 100.`)
}
