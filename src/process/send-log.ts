import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Logger } from 'pino'
import {
  type RecoveryPointFile,
  recoveryPointKinds,
  type SavedRecoveryPoint,
  type ServerPosition,
  type TrackedWrite,
} from '../db/recovery-point.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { openDataFolder } from '../lib/data-folder.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { isRunning, reason } from '../lib/operating-system.ts'
import type { SendLog } from '../lib/send-log.ts'

/** A file begins with a block that contains the recovery point, rewritten at each commit. A line per attempt follows. */
export type SendLogFile = RecoveryPointFile & SendLog

const blockBytes = 4_096
/** Maximum number of lines, after which a new file with a new sender id is used. */
const maxLines = 20_000
/** Longer than any attempt waits for its process to restart. */
const keepMs = 2 * 86_400_000
/** Among the newest files is the newest file of every process. */
const maxFiles = 32
/** Contains the time at which an operator last reconciled. Other versions read and write it under this name. */
const reconciledFile = 'looked'
/** Number of renewals (half a minute) between attempts to create a new file on a full disk. */
const renewalsBeforeRetry = 15

/**
 * `boot`: the machine's boot id. Null if it has none. Lines are not flushed to disk, so they do not survive a reboot. Other versions
 * read `place`, the server's position, and `noted`, the writes.
 */
type Block = {
  boot: string | null
  pid: number
  place?: (Omit<ServerPosition, 'position'> & { position: string }) | undefined
  noted: TrackedWrite[]
}

const readBoot = async (): Promise<string | null> =>
  (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => null))?.trim() ?? null

/** Undefined for a truncated file. Versions up to 0.4.0 wrote longer blocks if their numbers had many digits. */
const parseBlock = (text: string): Block | undefined => {
  try {
    const block = JSON.parse(text.slice(0, text.indexOf('\n'))) as Block
    return Array.isArray(block.noted) ? block : undefined
  } catch {
    return undefined
  }
}

const sentLine = /^([0-9a-f-]{36}) (\d{13})$/

/** Parses lines such as `0192f0c4-… 1763862000000`. A truncated line is ignored. */
const parseSent = (text: string): TrackedWrite[] =>
  text
    .slice(blockBytes)
    .split('\n')
    .flatMap((line) => {
      const [, id, at] = sentLine.exec(line) ?? []
      return id ? [{ kind: 'sent' as const, id, atMs: Number(at) }] : []
    })

/** False if a longer block has overwritten the first line, whose attempt may therefore have been sent. */
const isFirstLineWhole = (text: string): boolean => {
  // The newline that ends the longer block may be the first of these bytes.
  const line = text
    .slice(blockBytes, 2 * blockBytes)
    .split('\n')
    .find((each) => each !== '')
  return line === undefined || sentLine.test(line)
}

/** Reads logs of ended processes, and deletes old files. A log with this process's pid has ended: containers reuse pids. */
const readSaved = async (folder: string, boot: string | null): Promise<{ saved: SavedRecoveryPoint[]; found: string[] }> => {
  const nowMs = systemClock.now().getTime()
  const reconciledMs = Number(await readFile(join(folder, reconciledFile), 'utf8').catch(() => 0))
  const names = (await readdir(folder)).filter((name) => name !== reconciledFile)
  const files = await Promise.all(
    names.map(async (name) => ({ file: join(folder, name), at: (await stat(join(folder, name))).mtimeMs })),
  )
  const newest = files.sort((one, other) => other.at - one.at).slice(0, maxFiles)
  const read = await Promise.all(
    newest.map(async ({ file, at }) => ({ file, at, text: await readFile(file, 'utf8').catch(() => '') })),
  )
  for (const { file } of files.filter(({ at }) => nowMs - at > keepMs)) await rm(file, { force: true })
  const ended = read.flatMap((each) => {
    const block = parseBlock(each.text)
    const runs = block && block.boot === boot && block.pid !== process.pid && isRunning(block.pid)
    return block && !runs ? [{ ...each, block }] : []
  })
  const saved = ended.flatMap(({ at, text, block: { place, noted } }): SavedRecoveryPoint[] => {
    if (nowMs - at > keepMs) return []
    const writes = [...noted, ...parseSent(text)].filter(
      ({ kind, atMs }) => recoveryPointKinds.includes(kind) && atMs > reconciledMs,
    )
    // Nothing was recorded since an operator last reconciled.
    return writes.length === 0 ? [] : [{ serverPosition: place && { ...place, position: BigInt(place.position) }, writes }]
  })
  return { saved, found: ended.map(({ file }) => basename(file)).filter((name) => /^[0-9a-f-]{36}$/.test(name)) }
}

/**
 * Opens the send log. An attempt missing from its file was never sent, which any process on the machine can report after the
 * attempt's time. `installation` separates the files of two databases. Undefined, with a warning, if no file can be written.
 */
export const openSendLog = async (
  dataDir: string,
  installation: Uuid,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<SendLogFile | undefined> => {
  try {
    const folder = join(await openDataFolder(dataDir), 'journal', installation)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const boot = await readBoot()
    return startLog({ folder, ...(await readSaved(folder, boot)), boot, clock, logger })
  } catch (error) {
    logger.warn(
      { reason: reason(error) },
      'no send log: lost writes are detected only while this process runs, and payments that it was allowed to send when it ended may have been sent',
    )
    return undefined
  }
}

const openFile = (folder: string, first: Buffer) => {
  const id = newId()
  const descriptor = openSync(join(folder, id), 'wx', 0o600)
  let end = 0
  const put = (bytes: Buffer, offset: number) => {
    if (writeSync(descriptor, bytes, 0, bytes.length, offset) !== bytes.length) throw new Error('a line was cut off')
    end = Math.max(end, offset + bytes.length)
  }
  try {
    put(first, 0)
  } catch (error) {
    closeSync(descriptor)
    rmSync(join(folder, id), { force: true })
    throw error
  }
  return {
    id,
    lines: 0,
    writeBlock: (block: Buffer) => put(block, 0),
    add: (line: string) => put(Buffer.from(line), end),
    close: () => closeSync(descriptor),
  }
}

type LogOptions = Awaited<ReturnType<typeof readSaved>> & { folder: string; boot: string | null; clock: Clock; logger: Logger }

const startLog = ({ folder, saved, found, boot, clock, logger }: LogOptions): SendLogFile => {
  let recoveryPoint: Pick<Block, 'place' | 'noted'> = { noted: [] }
  /** Drops the oldest entries that do not fit, because a longer block would overwrite the first line. */
  const block = (): Buffer => {
    const noted = [...recoveryPoint.noted]
    for (;;) {
      const text = JSON.stringify({ boot, pid: process.pid, ...recoveryPoint, noted })
      if (text.length < blockBytes) return Buffer.from(`${text.padEnd(blockBytes - 1)}\n`)
      if (noted.shift() === undefined) throw new Error('the recovery point is too long')
    }
  }
  let file: ReturnType<typeof openFile> | undefined = openFile(folder, block())
  const retired: ReturnType<typeof openFile>[] = []
  let next: ReturnType<typeof openFile> | undefined
  let renewalsWithout = 0
  /** The recorded work is already committed, so a full disk must not make it fail. */
  const stopWriting = (error: unknown) => {
    if (file) logger.error({ reason: reason(error) }, 'the send log cannot be written; the service continues without it')
    file = next = undefined
  }
  const orStopWriting = (work: () => void) => {
    try {
      work()
    } catch (error) {
      stopWriting(error)
    }
  }
  return {
    saved,
    found,
    open: () => {
      if (!file) renewalsWithout += 1
      if (!next && (file ? file.lines >= maxLines : renewalsWithout % renewalsBeforeRetry === 0))
        orStopWriting(() => {
          next = openFile(folder, block())
        })
      return [...retired, file, next].flatMap((each) => (each ? [each.id] : []))
    },
    confirm: () => {
      if (!next) return
      // Sends that received their permission under the earlier file may still write to it.
      if (file) retired.push(file)
      else logger.info('the send log is written again')
      if (retired.length > 2) retired.shift()?.close()
      file = next
      next = undefined
      orStopWriting(() => file?.writeBlock(block()))
    },
    write: (at, writes) => {
      recoveryPoint = { place: at && { ...at, position: at.position.toString() }, noted: [...writes] }
      orStopWriting(() => file?.writeBlock(block()))
    },
    forget: (atMs) => {
      recoveryPoint = { noted: [] }
      orStopWriting(() => file?.writeBlock(block()))
      writeFile(join(folder, reconciledFile), String(atMs)).catch(stopWriting)
    },
    sender: () => {
      const to = file
      return (
        to && {
          id: to.id,
          append: (attemptId) => {
            try {
              to.add(`${attemptId} ${clock.now().getTime()}\n`)
              to.lines += 1
            } catch (error) {
              stopWriting(error)
              throw error
            }
          },
        }
      )
    },
    read: (sender, attemptId) => {
      let text: string
      try {
        text = readFileSync(join(folder, sender), 'utf8')
      } catch {
        return 'elsewhere'
      }
      if (boot === null || parseBlock(text)?.boot !== boot) return 'elsewhere'
      if (!isFirstLineWhole(text)) return 'elsewhere'
      return text.includes(`\n${attemptId} `) ? 'may_be_sent' : 'not_sent'
    },
    close: () => {
      for (const each of [...retired, file, next]) each?.close()
      file = next = undefined
    },
  }
}
