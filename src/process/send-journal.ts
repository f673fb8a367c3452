import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { openDataFolder } from '../dev/embedded-postgres/data-folder.ts'
import { systemClock } from '../lib/clock.ts'
import type { JournalSender, SendJournal } from '../lib/send-journal.ts'
import { newUuid, type Uuid } from '../lib/uuid.ts'

/** After so many lines a new file, under a new sender's name. */
const mostLines = 20_000
/** Longer than any attempt waits for its process to come back; what is older is left to the provider's answers. */
const keepMs = 2 * 86_400_000

/**
 * Lines are not flushed to the disk: they outlive their process, but not the end of their machine. So a file proves something only as long
 * as the machine has not been started again. Where the system does not say, there is no journal.
 */
const readBoot = async (): Promise<string> => (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()

const firstLineOf = (boot: string) => `boot ${boot}`

const removeOld = async (folder: string): Promise<void> => {
  const nowMs = systemClock.now().getTime()
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: nowMs }))
    if (nowMs - mtimeMs > keepMs) await rm(file, { force: true })
  }
}

type File = JournalSender & { isFull: () => boolean; close: () => void }

const openFile = (folder: string, boot: string, onBroken: (error: unknown) => void): File => {
  const id = newUuid()
  const descriptor = openSync(join(folder, id), 'ax', 0o600)
  let lines = 0
  const write = (line: string) => {
    const text = Buffer.from(`${line}\n`)
    if (writeSync(descriptor, text) !== text.length) throw new Error('a line was cut off')
  }
  write(firstLineOf(boot))
  return {
    id,
    note: (attemptId) => {
      try {
        write(attemptId)
        lines += 1
      } catch (error) {
        onBroken(error)
        throw error
      }
    },
    isFull: () => lines >= mostLines,
    close: () => closeSync(descriptor),
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Where this process writes down each attempt right before its first byte leaves: an attempt that a process had the right to send, and that
 * its file does not name, was never sent. Any process on the machine can say so, after the time to send it has passed. Undefined, with a
 * warning, where nothing can be written: then such an attempt may have been sent.
 */
export const openSendJournal = async (dataDir: string, installation: Uuid, logger: Logger): Promise<SendJournal | undefined> => {
  try {
    const folder = join(await openDataFolder(dataDir), 'sends', installation)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await removeOld(folder)
    return open(folder, await readBoot(), logger)
  } catch (error) {
    logger.warn(
      { reason: reasonOf(error) },
      'no journal of sends: what a process had the right to send when it ended may have been sent',
    )
    return undefined
  }
}

const open = (folder: string, boot: string, logger: Logger): SendJournal => {
  const broken = (error: unknown) => {
    file = undefined
    logger.error({ reason: reasonOf(error) }, 'the journal of sends cannot be written: payments are sent without it')
  }
  let file: File | undefined = openFile(folder, boot, broken)
  const full: File[] = []
  return {
    sender: () => {
      if (file?.isFull()) {
        // Sends that took their right under the earlier name may still write to it.
        full.push(file)
        if (full.length > 2) full.shift()?.close()
        try {
          file = openFile(folder, boot, broken)
        } catch (error) {
          broken(error)
        }
      }
      return file
    },
    read: (sender, attemptId) => {
      let lines: string[]
      try {
        lines = readFileSync(join(folder, sender), 'utf8').split('\n')
      } catch {
        return 'elsewhere'
      }
      if (lines[0] !== firstLineOf(boot)) return 'elsewhere'
      return lines.includes(attemptId) ? 'may_be_sent' : 'not_sent'
    },
    close: () => {
      for (const each of [...full, ...(file ? [file] : [])]) each.close()
      file = undefined
    },
  }
}
