import { getTableColumns, type Table } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'

/**
 * All columns of a table for a statement, under the names of its record: `created_at as "createdAt"`. The statement then returns what the
 * ORM would, without a query that is built for each request. `alias`: the table's, where the statement joins several;
 * `except`: columns that it names otherwise.
 */
export const columnsOf = (table: Table, alias?: string, except: readonly string[] = []): string =>
  Object.keys(getTableColumns(table))
    .filter((name) => !except.includes(name))
    .map((name) => {
      const column = toSnakeCase(name)
      return `${alias === undefined ? '' : `${alias}.`}${column}${column === name ? '' : ` as "${name}"`}`
    })
    .join(', ')
