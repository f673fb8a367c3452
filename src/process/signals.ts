import { constants } from 'node:os'

const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
type Name = (typeof names)[number]

/** A supervisor may kill a process ten seconds after its signal and its delay. */
const deadlineMs = 9_500
/** npm passes a terminal's signal on, so one Ctrl-C arrives twice. */
const sameSignalMs = 500

const exitCode = (name: Name) => 128 + constants.signals[name]

/** The first signal shuts down in order, the second one ends at once. */
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
  // Tools that rotate logs send these. Node answers SIGUSR1 with a debugger that every user of the machine may open, and SIGUSR2 ends a process.
  for (const name of ['SIGUSR1', 'SIGUSR2'] as const) process.on(name, () => undefined)
  return {
    /** Until this call, a signal only ends the process. `delayMs`: how long `closer` continues to serve first. */
    closeWith: (closer: () => Promise<void>, delayMs: number): void => {
      close = closer
      patienceMs = deadlineMs + delayMs
    },
    /** Begins the shutdown, unless a signal already did. */
    begin: (): void => {
      if (!first) stop('SIGTERM')
    },
  }
}
