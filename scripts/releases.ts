import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrationsFolder, readMigrations } from '../src/db/migrations.ts'

/** `last`: its last migration. `migrations`: the SHA-256 of each file that this release brought. */
export type Release = { version: string; last: string; migrations: Readonly<Record<string, string>> }

export const releasesFile = (folder = migrationsFolder): string => join(folder, 'releases.json')

/** Oldest first; none before the first release. */
export const readReleases = (folder = migrationsFolder): Release[] => {
  const file = releasesFile(folder)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

/** The released migrations that are no longer in the folder as they were released, each as a sentence. */
export const changedMigrations = (releases: readonly Release[], folder = migrationsFolder): string[] => {
  const now = new Map(readMigrations(folder).map(({ tag, hash }) => [tag, hash]))
  return releases.flatMap(({ version, migrations }) =>
    Object.entries(migrations).flatMap(([tag, hash]) =>
      now.get(tag) === hash ? [] : [`${tag} ${now.has(tag) ? 'was changed after' : 'is missing since'} ${version}`],
    ),
  )
}
