import { getTableColumns, type Table } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'

/** Under the names of the table's record: `created_at as "createdAt"`. `alias`: of a table that is joined; `except`: what is named otherwise. */
export const columnsOf = (table: Table, alias?: string, except: readonly string[] = []): string =>
  Object.keys(getTableColumns(table))
    .filter((name) => !except.includes(name))
    .map((name) => {
      const column = toSnakeCase(name)
      return `${alias === undefined ? '' : `${alias}.`}${column}${column === name ? '' : ` as "${name}"`}`
    })
    .join(', ')
