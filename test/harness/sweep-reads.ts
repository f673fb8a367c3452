import type { TestService } from './service.ts'

/** Runs work once, right after a sweep has read its rows and before it locks any. */
export const afterSweepRead = ({ deps: { db } }: TestService, sweep: string, happens: () => Promise<unknown>): void => {
  const { run } = db
  db.run = async (prepared, values) => {
    const rows = await run(prepared, values)
    const { statement } = prepared.variant(values, false)
    if (typeof statement !== 'string' && statement.name.startsWith(`${sweep}.`)) {
      db.run = run
      await happens()
    }
    return rows
  }
}
