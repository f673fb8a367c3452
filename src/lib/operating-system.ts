/** The reason in one line: the program's error output, or the system error. */
export const reason = (error: unknown) => {
  const lines =
    error instanceof Error && 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim().split('\n') : []
  const line = lines.find((text) => /error:|FATAL:/.test(text)) ?? lines.at(-1)
  const message = line || (error instanceof Error ? error.message : String(error))
  return (message.split('\n')[0] ?? message).replace(/\.$/, '')
}

export const isCode = (error: unknown, ...codes: string[]) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)

/** Whether a process with this pid exists, the check that Postgres itself makes for a lock file. */
export const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return isCode(error, 'EPERM')
  }
}
