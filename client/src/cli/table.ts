import type { Terminal } from './terminal.ts'

/** Lines whose cells stand below each other; amounts, the columns of `right`, end below each other. */
export const sayTable = (rows: readonly (readonly string[])[], out: Terminal['out'], right: readonly number[]): void => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const padded = (cell: string, column: number): string =>
    right.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  for (const row of rows) out(row.map(padded).join('  ').trimEnd())
}

/** A column of a list: its title, and its cell. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => string, right?: 'right']

/** A list for a person: its columns under their titles. Without rows it says so. */
export const sayList = <Row>({ out, say }: Terminal, columns: readonly Column<Row>[], rows: readonly Row[]): void => {
  if (rows.length === 0) say('There is nothing here.')
  const titles = columns.map(([title]) => title)
  const right = columns.flatMap(([, , side], index) => (side ? [index] : []))
  if (rows.length > 0) sayTable([titles, ...rows.map((row) => columns.map(([, cell]) => cell(row)))], out, right)
}
