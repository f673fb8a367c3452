import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { runningPostmaster } from '../../src/dev/embedded-postgres/postmaster.ts'
import { isRunning } from '../../src/lib/operating-system.ts'

const memory = '/dev/shm'
const neededBytes = 2 * 1024 ** 3

/** A database's creation and drop handle a thousand files: on a disk, six times the processor time of memory. */
const placeForFiles = async (): Promise<string> => {
  const space = await statfs(memory).catch(() => undefined)
  return space && space.bavail * space.bsize >= neededBytes ? memory : tmpdir()
}

const postgresIn = (folder: string) => join(folder, 'postgres')

/**
 * A folder for a run's temporary files: the server's data, and files of tests and their processes. It becomes the temporary
 * folder of this process and of those that it starts.
 */
export const openRunFolder = async (): Promise<{ postgres: string; remove: () => Promise<void> }> => {
  const before = process.env.TMPDIR
  const places = new Set([await placeForFiles(), tmpdir()])
  for (const place of places) await removeAbandoned(place)
  const [place = tmpdir()] = places
  const folder = await mkdtemp(join(place, `payments-test-${process.pid}-`))
  // With the system folder's mode, so that the server, and programs of another user, have access.
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
      // The folder belongs to another user.
    }
  }
}
