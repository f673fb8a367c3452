import { UsageError } from './errors.ts'

/** Input and output of a command. */
export type Terminal = {
  args: readonly string[]
  env: NodeJS.ProcessEnv
  /** Output for another program. */
  out: (line: string) => void
  /** Output for a person. */
  say: (line: string) => void
  /** On a terminal, replaces the last progress line. Elsewhere, prints a new line. */
  progress: (line: string) => void
  signal: AbortSignal
  /** Asks a person. Absent if no one can answer. */
  ask?: (question: string) => Promise<boolean>
}

/** A command or another entry that a word names. Names of JavaScript's own, such as `constructor`, are none. */
export const entryOf = <Entry>(entries: Readonly<Record<string, Entry>>, name: string): Entry | undefined =>
  Object.hasOwn(entries, name) ? entries[name] : undefined

/** The value of an option that takes a whole number. */
export const wholeNumber = (option: string, value: string): number => {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`--${option} takes a whole number, not "${value}".`)
  return Number(value)
}

export const text = { type: 'string' } as const
export const flag = { type: 'boolean' } as const
export const json = (value: unknown): string => JSON.stringify(value, null, 2)
