import { appendFile, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Tokens } from '../oauth.ts'
import { UsageError } from './errors.ts'

/** A login: service, client and tokens. */
export type Login = { baseUrl: string; clientId: string; tokens: Tokens }

export const loginFile = (env: NodeJS.ProcessEnv): string =>
  // An empty variable counts as unset (XDG Base Directory), not as the current folder.
  env.PAYMENTS_LOGIN_FILE || join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'payments-service', 'login.json')

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
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T)
  } catch {
    throw new UsageError(`The file ${file} is damaged: it is not JSON. Remove it, then run the command again.`)
  }
}

/** Writes a file that only its owner can read. The rename prevents a half-written file, whose content would be lost. */
const writeJson = async (file: string, value: unknown): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const next = `${file}.${process.pid}`
  await writeFile(next, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  await rename(next, file)
}

const lockPollMs = 50
/** The holder of an older lock has ended without releasing it: a refresh takes seconds. */
const maxLockMs = 30_000

/** Numbers of the lock files. A new number belongs to the one process that creates its file, and the highest is the lock. */
const lockNumbers = async (file: string): Promise<number[]> => {
  const start = `${basename(file)}.lock.`
  const names = (await readdir(dirname(file))).filter((name) => name.startsWith(start))
  return names.map((name) => Number(name.slice(start.length))).filter(Number.isSafeInteger)
}

/** Takes the lock if it is released or old. No number is used twice, so two processes that find an old lock cannot both take it. */
const takeLock = async (file: string): Promise<string | undefined> => {
  const last = Math.max(0, ...(await lockNumbers(file)))
  const heldMs = await stat(`${file}.lock.${last}`).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => maxLockMs,
  )
  if (heldMs < maxLockMs) return undefined
  const own = `${file}.lock.${last + 1}`
  try {
    await writeFile(own, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined
    throw error
  }
  const others = (await lockNumbers(file)).filter((number) => number !== last + 1)
  // Another process took the lock, and removed the files below its own, between the two lists.
  const isLate = others.some((number) => number > last)
  for (const name of isLate ? [own] : others.map((number) => `${file}.lock.${number}`)) await rm(name, { force: true })
  return isLate ? undefined : own
}

/** Lets one process at a time do the work. */
export const withLock = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  let lock = await takeLock(file)
  for (; lock === undefined; lock = await takeLock(file)) await pause(lockPollMs)
  const own = lock
  try {
    return await work()
  } finally {
    // Releases the lock by its age. The file is gone if another process has taken the lock over.
    await utimes(own, 0, 0).catch(() => undefined)
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
