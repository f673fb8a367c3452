import { appendFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Tokens } from '../oauth.ts'

/** A login: service, client and tokens. */
export type Login = { baseUrl: string; clientId: string; tokens: Tokens }

export const loginFile = (env: NodeJS.ProcessEnv): string =>
  env.PAYMENTS_LOGIN_FILE ?? join(env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'payments-service', 'login.json')

const hasCode = (error: unknown, code: string): boolean => error instanceof Error && 'code' in error && error.code === code
const isMissing = (error: unknown): boolean => hasCode(error, 'ENOENT')

const readText = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const readJson = async <T>(file: string): Promise<T | undefined> => {
  const text = await readText(file)
  return text === undefined ? undefined : (JSON.parse(text) as T)
}

/** Writes a file that only its owner can read. The rename prevents a half-written file, whose content would be lost. */
const writeJson = async (file: string, value: unknown): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const next = `${file}.${process.pid}`
  await writeFile(next, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  await rename(next, file)
}

const lockPollMs = 50
/** The holder of an older lock has ended without removing it: a refresh takes seconds. */
const maxLockMs = 30_000

/** Lets one process at a time do the work, by a file that only one of them can create. */
export const withLock = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  const lock = `${file}.lock`
  const take = () =>
    writeFile(lock, `${process.pid}\n`, { flag: 'wx', mode: 0o600 }).then(
      () => true,
      (error: unknown) => {
        if (!hasCode(error, 'EEXIST')) throw error
        return false
      },
    )
  while (!(await take())) {
    const takenMs = await stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    )
    if (Date.now() - takenMs > maxLockMs) await rm(lock, { force: true })
    else await pause(lockPollMs)
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

export const readLogin = (file: string): Promise<Login | undefined> => readJson<Login>(file)
export const writeLogin = (file: string, login: Login): Promise<void> => writeJson(file, login)

export const forgetLogin = (file: string): Promise<void> => rm(file, { force: true })

/** State of a listener between two runs: its signing secret, and the last accepted event, or null. */
export type ListenState = { secret: string; lastEventId?: string | null }

export const readListenState = (file: string): Promise<ListenState | undefined> => readJson<ListenState>(file)
export const writeListenState = (file: string, state: ListenState): Promise<void> => writeJson(file, state)

export const readLines = async (file: string): Promise<string[]> => ((await readText(file)) ?? '').split('\n').filter(Boolean)

export const appendLine = async (file: string, line: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await appendFile(file, `${line}\n`, { mode: 0o600 })
}

/** Takes all lines out of a file to which another process may append. Lines of an interrupted run come first. */
export const takeFile = async (file: string): Promise<{ lines: string[]; done: () => Promise<void> }> => {
  const taken = `${file}.taken`
  const before = await readLines(taken)
  if (before.length === 0)
    await rename(file, taken).catch((error: unknown) => {
      if (!isMissing(error)) throw error
    })
  return { lines: before.length > 0 ? before : await readLines(taken), done: () => rm(taken, { force: true }) }
}
