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

export const text = { type: 'string' } as const
export const flag = { type: 'boolean' } as const
export const json = (value: unknown): string => JSON.stringify(value, null, 2)
