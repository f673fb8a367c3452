import { getTableColumns, type Table } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'

/** A table's columns with their record names: `t.created_at as "createdAt"`. `alias`: the table's alias in the query. */
export const columnsOf = (table: Table, alias: string, except: readonly string[] = []): string =>
  Object.keys(getTableColumns(table))
    .filter((name) => !except.includes(name))
    .map((name) => {
      const column = toSnakeCase(name)
      return `${alias}.${column}${column === name ? '' : ` as "${name}"`}`
    })
    .join(', ')
