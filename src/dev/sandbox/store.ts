import { appendFileSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { z } from 'zod'

/** Lines that outlive their process, for one process at a time. `append` returns once the line is written. */
export type Store = { read: () => unknown[]; append: (line: object) => void }

export const memoryStore = (): Store => ({ read: () => [], append: () => undefined })

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
  const path = join(folder, name)
  const file = openSync(path, 'a', 0o600)
  // The next line must not continue an incomplete one.
  if (/[^\n]$/.test(readFileSync(path, 'utf8'))) writeSync(file, '\n')
  return {
    read: () => readFileSync(path, 'utf8').split('\n').filter(Boolean).flatMap(parseLine),
    append: (line) => appendFileSync(file, `${JSON.stringify(line)}\n`),
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
