import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { runningPostmaster } from '../../src/dev/embedded-postgres/postmaster.ts'
import { isRunning } from '../../src/lib/operating-system.ts'

const memory = '/dev/shm'
const neededBytes = 2 * 1024 ** 3

/** Creating and dropping a database is a thousand files: on a disk that costs six times as much of a processor as in memory. */
const placeForFiles = async (): Promise<string> => {
  const space = await statfs(memory).catch(() => undefined)
  return space && space.bavail * space.bsize >= neededBytes ? memory : tmpdir()
}

const postgresIn = (folder: string) => join(folder, 'postgres')

/**
 * A folder for everything temporary of a run: the server's data, and what tests and their processes write. It becomes the folder for
 * temporary files of this process and of those that it starts.
 */
export const openRunFolder = async (): Promise<{ postgres: string; remove: () => Promise<void> }> => {
  const before = process.env.TMPDIR
  const places = new Set([await placeForFiles(), tmpdir()])
  for (const place of places) await removeAbandoned(place)
  const [place = tmpdir()] = places
  const folder = await mkdtemp(join(place, `payments-test-${process.pid}-`))
  // Like the system's own: the server, and what tests start as another user, get in.
  await chmod(folder, 0o1777)
  process.env.TMPDIR = folder
  return {
    postgres: postgresIn(folder),
    remove: async () => {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Removes the servers and folders of killed runs. */
const removeAbandoned = async (place: string): Promise<void> => {
  for (const name of await readdir(place)) {
    const run = /^payments-test-(\d+)-/.exec(name)?.[1]
    if (run === undefined || isRunning(Number(run))) continue
    const folder = join(place, name)
    try {
      const data = join(postgresIn(folder), 'cluster', 'data')
      for (let server = await runningPostmaster(data); server; server = await runningPostmaster(data)) {
        process.kill(server.pid, 'SIGQUIT')
        await wait(50)
      }
      await rm(folder, { recursive: true, force: true })
    } catch {
      // A folder of another user.
    }
  }
}
