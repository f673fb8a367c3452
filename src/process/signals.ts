import { constants } from 'node:os'

const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
type Name = (typeof names)[number]

/** A supervisor may kill a process ten seconds after its signal, plus its delay. */
const deadlineMs = 9_500
/** npm forwards a terminal's signals, so one Ctrl-C arrives twice. */
const sameSignalMs = 500

const exitCode = (name: Name) => 128 + constants.signals[name]

/** The first signal shuts the process down cleanly, the second one exits immediately. */
export const handleSignals = (say: (sentence: string) => void) => {
  let close: (() => Promise<void>) | undefined
  let patienceMs = deadlineMs
  let first: { name: Name; at: number } | undefined
  const stop = (name: Name) => {
    if (!close) process.exit(exitCode(name))
    if (first) {
      if (name !== first.name || performance.now() - first.at > sameSignalMs) process.exit(exitCode(name))
      return
    }
    first = { name, at: performance.now() }
    say(`${name}: finishing requests and payments in progress; send it again to end at once.`)
    setTimeout(() => {
      say('Not everything finished in time; ending anyway.')
      process.exit(1)
    }, patienceMs).unref()
    close().then(
      () => process.exit(0),
      () => {
        say('Closing failed; ending anyway.')
        process.exit(1)
      },
    )
  }
  for (const name of names) process.on(name, stop)
  // Sent by log rotation tools. By default, SIGUSR1 opens a debugger to all local users, and SIGUSR2 kills the process.
  for (const name of ['SIGUSR1', 'SIGUSR2'] as const) process.on(name, () => undefined)
  return {
    /** Before this call, a signal just exits. `delayMs`: how long `closer` keeps serving before it closes. */
    closeWith: (closer: () => Promise<void>, delayMs: number): void => {
      close = closer
      patienceMs = deadlineMs + delayMs
    },
    /** Starts the shutdown unless a signal has already started it. */
    begin: (): void => {
      if (!first) stop('SIGTERM')
    },
  }
}
