import { migrationsFolder, type Release, readMigrations } from '../src/db/migrations.ts'

/**
 * Describes the released migrations that are missing from the folder or were changed, one sentence each. An amended migration is
 * compared with its amended hash.
 */
export const changedMigrations = (releases: readonly Release[], folder = migrationsFolder): string[] => {
  const now = new Map(readMigrations(folder).map(({ tag, hash }) => [tag, hash]))
  return releases.flatMap(({ version, migrations, amended = {} }) =>
    Object.entries(migrations).flatMap(([tag, hash]) =>
      now.get(tag) === (amended[tag]?.hash ?? hash)
        ? []
        : [`${tag} ${now.has(tag) ? 'was changed after' : 'is missing since'} ${version}`],
    ),
  )
}
