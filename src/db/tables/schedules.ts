import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

export const schedules = pgTable('schedules', {
  name: text().primaryKey(),
  everySeconds: integer().notNull(),
  nextRunAt: instant().notNull(),
})
