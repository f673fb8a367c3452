import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { StartupError } from '../../lib/errors.ts'
import { reason, role } from './cluster.ts'
import { runningPostmaster } from './postmaster.ts'
import { embeddedUrl, startEmbeddedPostgres } from './start.ts'

/**
 * The embedded database for a command beside the service: the server that runs already, or one of its own while the command runs. Does not
 * create a database.
 * @throws StartupError
 */
export const attachEmbeddedPostgres = async (dataDir: string): Promise<{ url: string; stop: () => Promise<void> }> => {
  const cluster = join(resolve(dataDir), 'cluster')
  if (!existsSync(join(cluster, 'data'))) {
    throw new StartupError(
      `There is no database in ${resolve(dataDir)} yet: start the service once, or set DATABASE_URL or DATA_DIR.`,
    )
  }
  const running = await runningPostmaster(join(cluster, 'data'))
  if (!running) return startEmbeddedPostgres({ dataDir })
  const file = join(cluster, 'password')
  const password = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new StartupError(`The password of the embedded database cannot be read from ${file}: ${reason(cause)}.`, { cause })
  })
  return { url: embeddedUrl(role, password.trim(), running.port), stop: async () => undefined }
}
