/** What a command reads and writes. */
export type Terminal = {
  args: readonly string[]
  env: NodeJS.ProcessEnv
  /** Output for another program. */
  out: (line: string) => void
  /** Output for a person. */
  say: (line: string) => void
  /** On a terminal it replaces the last line of its kind; elsewhere it is a line of its own. */
  progress: (line: string) => void
  signal: AbortSignal
  /** Asks a person; absent where nobody is there to answer. */
  ask?: (question: string) => Promise<boolean>
}

export const text = { type: 'string' } as const
export const flag = { type: 'boolean' } as const
export const json = (value: unknown): string => JSON.stringify(value, null, 2)
