import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))

export type Migration = {
  tag: string
  hash: string
  /** SHA-256 of the file as released, if statements have since been moved to other files. */
  releasedHash?: string
  /** Time in the journal, in milliseconds. Migrations run in this order. */
  at: number
  statements: readonly string[]
  /** False if the file begins with `-- no transaction`. */
  inTransaction: boolean
  /** True if the file has the line `-- after the upgrade`: it removes schema that the previous version needs. */
  afterUpgrade: boolean
}

export type Release = {
  version: string
  /** The release's last migration. */
  last: string
  /** SHA-256 of each file that the release added. */
  migrations: Readonly<Record<string, string>>
  /** Files from which statements have since been moved to other files, with their current hash and the reason. */
  amended?: Readonly<Record<string, { hash: string; why: string }>>
}

export const releasesFile = (folder = migrationsFolder): string => join(folder, 'releases.json')

/** Oldest first. Empty before the first release. */
export const readReleases = (folder = migrationsFolder): Release[] => {
  const file = releasesFile(folder)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

const breakpoint = '--> statement-breakpoint'
const noTransactionLine = /^\s*-- no transaction\s*(\n|$)/
const afterUpgradeLine = /^-- after the upgrade$/m

type Journal = { entries: readonly { tag: string; when: number }[] }

export const parseMigration = (tag: string, at: number, text: string): Migration => ({
  tag,
  at,
  hash: createHash('sha256').update(text).digest('hex'),
  statements: text.split(breakpoint).filter((statement) => statement.trim() !== ''),
  inTransaction: !noTransactionLine.test(text),
  afterUpgrade: afterUpgradeLine.test(text),
})

export const readMigrations = (folder = migrationsFolder): Migration[] => {
  const { entries }: Journal = JSON.parse(readFileSync(join(folder, 'meta', '_journal.json'), 'utf8'))
  // Hashes under which an amended file may already be recorded.
  const releasedHashes = new Map(
    readReleases(folder).flatMap(({ migrations, amended = {} }) =>
      Object.keys(amended).map((tag) => [tag, migrations[tag]] as const),
    ),
  )
  return entries.map(({ tag, when }) => {
    const releasedHash = releasedHashes.get(tag)
    return {
      ...parseMigration(tag, when, readFileSync(join(folder, `${tag}.sql`), 'utf8')),
      ...(releasedHash && { releasedHash }),
    }
  })
}
