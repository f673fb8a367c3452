import { existsSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { z } from 'zod'

/** Lines that outlive their process. `append` returns once the line is written. `readNew`: unread lines of all processes. */
export type Store = { readNew: () => unknown[]; append: (line: object) => void }

export const memoryStore = (): Store => ({ readNew: () => [], append: () => undefined })

const parseLine = (line: string): unknown[] => {
  try {
    return [JSON.parse(line)]
  } catch {
    // Skips a line that a power loss left incomplete.
    return []
  }
}

export const fileStore = (folder: string, name: string): Store => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = openSync(join(folder, name), 'a+', 0o600)
  let readTo = 0
  return {
    readNew: () => {
      const size = fstatSync(file).size
      if (size === readTo) return []
      const bytes = Buffer.alloc(size - readTo)
      readSync(file, bytes, 0, bytes.length, readTo)
      const text = bytes.toString('utf8')
      const whole = text.slice(0, text.lastIndexOf('\n') + 1)
      readTo += Buffer.byteLength(whole)
      return whole.split('\n').filter(Boolean).flatMap(parseLine)
    },
    append: (line) => void writeSync(file, `${JSON.stringify(line)}\n`),
  }
}

/** A small document that is read and replaced as a whole. Without a folder it is lost when the process ends. */
export const keepDocument = <T>(folder: string | undefined, name: string, schema: z.ZodType<T>, empty: T) => {
  let held = empty
  const file = folder === undefined ? undefined : join(folder, name)
  return {
    read: (): T => {
      if (file === undefined) return held
      return existsSync(file) ? schema.parse(JSON.parse(readFileSync(file, 'utf8'))) : empty
    },
    write: (value: T): void => {
      held = value
      if (folder === undefined || file === undefined) return
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(`${file}.draft`, JSON.stringify(value), { mode: 0o600 })
      renameSync(`${file}.draft`, file)
    },
  }
}
