import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))

export type Migration = {
  tag: string
  /** SHA-256 of the file. */
  hash: string
  /** The journal's time, in milliseconds, which orders migrations. */
  at: number
  statements: readonly string[]
  /** False for a file that begins with `-- no transaction`. */
  inTransaction: boolean
}

const breakpoint = '--> statement-breakpoint'
const outsideTransaction = /^\s*-- no transaction\s*$/m

type Journal = { entries: readonly { tag: string; when: number }[] }

export const parseMigration = (tag: string, at: number, text: string): Migration => ({
  tag,
  at,
  hash: createHash('sha256').update(text).digest('hex'),
  statements: text.split(breakpoint).filter((statement) => statement.trim() !== ''),
  inTransaction: !outsideTransaction.test(text.split('\n')[0] ?? ''),
})

/** The folder's migrations in the order of its journal. */
export const readMigrations = (folder = migrationsFolder): Migration[] => {
  const { entries }: Journal = JSON.parse(readFileSync(join(folder, 'meta', '_journal.json'), 'utf8'))
  return entries.map(({ tag, when }) => parseMigration(tag, when, readFileSync(join(folder, `${tag}.sql`), 'utf8')))
}
