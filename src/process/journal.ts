import { closeSync, openSync, renameSync, writeSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { type RememberedKind, type RememberedLine, rememberedKinds } from '../db/remembered.ts'
import type { Journal } from '../db/witness.ts'
import { openDataFolder } from '../dev/embedded-postgres/data-folder.ts'
import { systemClock } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'

/** A file holds more than `Remembered` keeps; the one before it is kept too. */
const mostBytes = 1_000_000
const mostLines = 8_000

type Line = { kind: RememberedKind | 'server'; id: string; atMs: number }

const isKind = (text: string): text is Line['kind'] => text === 'server' || rememberedKinds.some((kind) => kind === text)

/** `payment 0192f0c4-… 1763862000000`: a line that was cut off by the end of its process is left out. */
const parse = (text: string): Line[] =>
  text.split('\n').flatMap((line) => {
    const [kind = '', id = '', at = ''] = line.split(' ')
    return isKind(kind) && id !== '' && /^\d{13}$/.test(at) ? [{ kind, id, atMs: Number(at) }] : []
  })

const textOf = ({ kind, id, atMs }: Line): string => `${kind} ${id} ${atMs}\n`

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** The files of processes that have ended: in a container a new process may have the number of the old one. */
const abandoned = (names: readonly string[]): string[] =>
  names.filter((name) => {
    const pid = Number(/^(\d+)-/.exec(name)?.[1])
    return pid > 0 && (pid === process.pid || !isAlive(pid))
  })

/**
 * What this process remembers, in a file of DATA_DIR, so that a loss is noticed also across its restart. `installation` separates the data of
 * two databases. Undefined, with a warning, where nothing can be written: then a loss is noticed only while the process runs.
 */
export const openJournal = async (
  dataDir: string,
  installation: Uuid,
  logger: Logger,
): Promise<(Journal & { close: () => Promise<void> }) | undefined> => {
  try {
    return await open(join(await openDataFolder(dataDir), 'journal', installation), logger)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    logger.warn({ reason }, 'no journal: a loss of writes is noticed only while this process runs')
    return undefined
  }
}

const readAll = async (folder: string, names: readonly string[]): Promise<Line[]> => {
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')))
  return texts
    .flatMap(parse)
    .sort((one, other) => one.atMs - other.atMs)
    .slice(-mostLines)
}

const open = async (folder: string, logger: Logger): Promise<Journal & { close: () => Promise<void> }> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const left = abandoned(await readdir(folder))
  const lines = await readAll(folder, left)
  const file = join(folder, `${process.pid}-${process.hrtime.bigint()}.log`)
  // What the ended processes remembered is in this file before theirs are removed.
  await writeFile(file, lines.map(textOf).join(''), { mode: 0o600 })
  for (const name of left) await rm(join(folder, name), { force: true })

  // Written at once, so that it is in the file before the request is answered. It also costs a tenth of a write by another thread.
  let number = openSync(file, 'a')
  let bytes = 0
  let state: 'open' | 'failed' | 'closed' = 'open'
  const openAgain = (flags: 'a' | 'w') => {
    const before = number
    number = openSync(file, flags, 0o600)
    closeSync(before)
  }
  const append = (text: string) => {
    bytes += text.length
    if (bytes > mostBytes) {
      renameSync(file, `${file}.before`)
      openAgain('a')
      bytes = text.length
    }
    writeSync(number, text)
  }
  /** What is written about has been committed: a full disk must not make it fail. */
  const write = (text: string) => {
    if (state === 'closed') return
    try {
      append(text)
      state = 'open'
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (state === 'open')
        logger.warn({ reason }, 'the journal cannot be written: a loss of writes is noticed only while this process runs')
      state = 'failed'
    }
  }
  return {
    lines: lines.flatMap(({ kind, id, atMs }): RememberedLine[] => (kind === 'server' ? [] : [{ kind, id, at: new Date(atMs) }])),
    lastServer: lines.findLast(({ kind }) => kind === 'server')?.id,
    noteServer: (server) => write(textOf({ kind: 'server', id: server, atMs: systemClock.now().getTime() })),
    write: (noted) => write(noted.map(({ kind, id, at }) => textOf({ kind, id, atMs: at.getTime() })).join('')),
    clear: async () => {
      await rm(`${file}.before`, { force: true })
      openAgain('w')
      bytes = 0
    },
    close: async () => {
      state = 'closed'
      closeSync(number)
    },
  }
}
