import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type LoadRequest, say } from './connection.ts'
import { type Bench, cpuSeconds, type Started } from './processes.ts'

export type Timing = { rounds: number; seconds: number; warmSeconds: number }

/** Requests in random order, or each of them `once`; or turns: a rotation of a refresh token, a sign-in with a wallet here and at better-auth. */
export type Load = { url: string; connections: number; seconds: number; perSecond?: number } & (
  | { kind: 'requests'; requests: LoadRequest[]; once?: boolean }
  | { kind: 'refresh'; path: string; clientId: string; tokens: readonly string[] }
  | { kind: 'sign_in' | 'siwe' }
)
type Counts = { done: number; perSecond: number; refused: number; failed: number; error: string | undefined }
export type Measured = Counts & { meanMs: number; p99Ms: number; refusedP99Ms: number }

/** Processes that send, one for each load that runs at the same time. */
const workers: ReturnType<typeof fork>[] = []

export const measure = async (load: Load): Promise<Measured> => {
  const worker = workers.pop() ?? fork(fileURLToPath(new URL('./load-worker.ts', import.meta.url)))
  worker.send(load)
  const [measured] = (await once(worker, 'message')) as [Measured]
  workers.push(worker)
  const { refused, failed, error = '' } = measured
  if (refused + failed > 0) say(`  ${load.kind}: ${refused} refused, ${failed} failed ${error}`)
  return measured
}

export const stopLoad = (): void => {
  for (const worker of workers.splice(0)) worker.kill()
}

/** With the milliseconds of processor time that Node and Postgres took for each request. */
export const costOf = async (bench: Bench, node: Started, load: Load) => {
  const now = () => [cpuSeconds(node.pid), cpuSeconds(bench.postgresPid)] as const
  const before = now()
  const found = await measure(load)
  const [nodeMs, postgresMs] = now().map((at, of) => ((at - (before[of] ?? 0)) * 1000) / Math.max(1, found.done)) as [
    number,
    number,
  ]
  return { ...found, nodeMs, postgresMs, ms: nodeMs + postgresMs }
}

/** How often a second pgbench runs a script by ten clients; undefined where it is not installed. */
export const pgbench = async ({ databaseUrl, folder }: Bench, text: string, seconds: number): Promise<number | undefined> => {
  const file = join(folder, 'pgbench.sql')
  await writeFile(file, text)
  const args = ['-n', '-c10', '-j1', `-T${Math.ceil(seconds)}`, '-Mprepared', `-f${file}`, databaseUrl]
  const { stdout } = await promisify(execFile)('pgbench', args).catch(() => ({ stdout: '' }))
  const found = /tps = ([\d.]+)/.exec(stdout)?.[1]
  return found === undefined ? undefined : Number(found)
}
