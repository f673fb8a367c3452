/** Input and output of a command. */
export type Terminal = {
  args: readonly string[]
  env: NodeJS.ProcessEnv
  /** Output for another program. */
  out: (line: string) => void
  /** Output for a person. */
  say: (line: string) => void
  /** Replaces the last progress line on a terminal; elsewhere prints a new line. */
  progress: (line: string) => void
  signal: AbortSignal
  /** Asks a person. Absent if nobody is there to answer. */
  ask?: (question: string) => Promise<boolean>
}

export const text = { type: 'string' } as const
export const flag = { type: 'boolean' } as const
export const json = (value: unknown): string => JSON.stringify(value, null, 2)
