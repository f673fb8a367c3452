import { readFileSync } from 'node:fs'
import { UsageError } from './errors.ts'

/** The content of a file that the command line names; `-`: the standard input. */
export const readInput = (file: string): Uint8Array<ArrayBuffer> => {
  try {
    return new Uint8Array(readFileSync(file === '-' ? 0 : file))
  } catch (error) {
    // Node: `ENOENT: no such file or directory, open 'x'`. The part after the comma repeats the path.
    const [, why = String(error)] = /^\w+: ([^,]+)/.exec(error instanceof Error ? error.message : '') ?? []
    throw new UsageError(`Cannot read ${file === '-' ? 'the standard input' : `the file ${file}`}: ${why}.`)
  }
}
