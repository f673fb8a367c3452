/** What a command reads and writes. */
export type Terminal = {
  args: readonly string[]
  env: NodeJS.ProcessEnv
  /** Output for another program. */
  out: (line: string) => void
  /** Output for a person. */
  say: (line: string) => void
  signal: AbortSignal
}
