import { connect } from '../../db/connect.ts'
import { type MigrateOptions, migrate } from '../../db/migrate.ts'
import { grantServiceRole } from '../../db/service-role.ts'
import { withClient } from '../../db/start.ts'
import { countHours } from '../../ledger/count-hours.ts'
import { systemClock } from '../../lib/clock.ts'
import { explain } from '../../process/database.ts'
import { warningLogger } from '../../process/logger.ts'
import { type Commands, UsageError } from './arguments.ts'
import { openDatabase } from './console.ts'

/** Counts all hours, so that statements have totals when this release first starts. Runs one query per hour with transfers. */
const countAll = async (url: string): Promise<void> => {
  const logger = warningLogger()
  const db = connect({ url, poolSize: 1, logger, clock: systemClock, statementTimeoutMs: 3_600_000, reads: 'whole_tables' })
  try {
    await countHours(db, systemClock.now())
  } finally {
    await db.close()
  }
}

type OnDatabase = (url: string, patience: Pick<MigrateOptions, 'patienceMs' | 'onContended' | 'onWait'>) => Promise<unknown>

/** Runs on an empty database or on a database of any release, so it opens none of the service's parts. */
const onDatabase = async (minutes: string, work: OnDatabase): Promise<unknown> => {
  if (!/^\d{1,4}$/.test(minutes)) throw new UsageError('--minutes must be a whole number')
  const database = await openDatabase()
  try {
    return await work(database.url, {
      patienceMs: Number(minutes) * 60_000,
      onWait: (holder) => console.error(`another process is migrating this database (${holder}); waiting`),
      onContended: ({ migration, tries, holders }) =>
        console.error(
          `${migration}: its locks were not free within half a second (try ${tries}); waiting. Oldest transactions: ${holders.join('; ') || 'none'}`,
        ),
    })
  } catch (error) {
    throw explain(error, 'the database')
  } finally {
    await database.stop()
  }
}

export const migrationCommands = {
  migrate: {
    syntax: '[--serve-as <role>] [--minutes <n>]',
    help: `migrates the database to this release. Run it as the owner of the tables, before processes of this release start.
      Waits for locked tables, and for another process that migrates, for 10 minutes each, or --minutes.
      --serve-as: grants the service's role its rights`,
    runAlone: ({ 'serve-as': role, minutes = '10' }) =>
      onDatabase(minutes, async (url, patience) => {
        const applied = await migrate(url, patience)
        await countAll(url)
        if (role !== undefined) await grantServiceRole(url, role)
        return { applied, ...(role !== undefined && { serves: role }) }
      }),
  },
  /** Confirms that no process of an earlier release is running or will run, which only the operator can know. */
  'finish-upgrade': {
    syntax: '[--minutes <n>]',
    help: `completes the upgrade after the last process of the previous version has ended: drops what only that version
      needs, and enables what it could not serve. A rollback is then impossible`,
    runAlone: ({ minutes = '10' }) =>
      onDatabase(minutes, async (url, patience) => {
        const applied = await migrate(url, { ...patience, finish: true })
        const finishedAt = await withClient(url, async (client) => {
          await client.query('update installation set upgrade_finished_at = now() where upgrade_finished_at is null')
          const { rows } = await client.query<{ at: Date }>('select upgrade_finished_at as at from installation')
          return rows[0]?.at
        })
        return { applied, finished_at: finishedAt?.toISOString() ?? null }
      }),
  },
} satisfies Commands
