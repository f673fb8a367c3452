import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isRunning } from '../../lib/operating-system.ts'

/** `isReady`: accepts connections, as its pid file says. Its port proves nothing, because another program could be listening. */
export type Postmaster = { pid: number; port: number; isReady: boolean }

export const runningPostmaster = async (data: string): Promise<Postmaster | undefined> => {
  const file = join(data, 'postmaster.pid')
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  const [pid, port] = [Number(lines[0]), Number(lines[3])]
  if (!(pid > 0) || !isRunning(pid)) return undefined
  if (await isPostgres(pid)) return port > 0 ? { pid, port, isReady: lines[7]?.trim() === 'ready' } : undefined
  // The pid belongs to a zombie, or to another process after a restart. Postgres would mistake either for a running server.
  await rm(file, { force: true })
  return undefined
}

/** A zombie has no command line. The folder is not compared, because the server may have been started before the folder moved. */
const isPostgres = async (pid: number) => {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() =>
    promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
      ({ stdout }) => stdout,
      () => '/bin/postgres ',
    ),
  )
  return /\/bin\/postgres[\0 ]/.test(command)
}
