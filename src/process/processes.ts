import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Logger } from 'pino'
import { StartupError } from '../lib/errors.ts'

const maxProcesses = 64
/** Limits how often a worker that cannot start is restarted. */
const restartPauseMs = 1_000

const countOf = (asked: string): number => {
  const count = asked === 'cores' ? availableParallelism() : Number(asked)
  if (!Number.isInteger(count) || count < 1 || count > maxProcesses)
    throw new StartupError(`--processes must be a number from 1 to ${maxProcesses}, or "cores".`)
  return count
}

/** The options after `npm start --`. */
export const startOptions = (args: readonly string[]): { processes: number; readyFile: string | undefined } => {
  try {
    const options = { processes: { type: 'string', default: '1' }, 'ready-file': { type: 'string' } } as const
    const { values } = parseArgs({ args: [...args], options })
    return { processes: countOf(values.processes), readyFile: values['ready-file'] }
  } catch (cause) {
    if (cause instanceof StartupError) throw cause
    throw new StartupError(`Unknown options: ${args.join(' ')}. Valid options: --processes and --ready-file.`, { cause })
  }
}

export const isWorker = cluster.isWorker

const close = 'close'
const ready = 'ready'

/** Ends a worker process when the first process requests it or has exited. */
export const endWithFirst = (end: () => void): void => {
  process.on('message', (message) => {
    if (message === close) end()
  })
  process.once('disconnect', end)
}

export const reportReady = (): void => void process.send?.(ready)

const untilReady = (worker: Worker): Promise<void> =>
  new Promise((resolve, reject) => {
    worker.on('message', (message) => {
      if (message === ready) resolve()
    })
    worker.once('exit', () => reject(new StartupError('A process did not start; its error is printed above.')))
  })

/**
 * Starts worker processes on the same two ports and replaces any that crash. Returns a function that stops all of them. A worker
 * inherits our environment, so the files that name these variables are removed from it.
 */
export const startWorkers = async (count: number, variables: Record<string, string>, logger: Logger) => {
  const withoutFiles = Object.fromEntries(Object.keys(variables).map((name) => [`${name}_FILE`, '']))
  let closing = false
  const running = new Set<Worker>()
  const start = (): Worker => {
    const worker = cluster.fork({ ...variables, ...withoutFiles })
    running.add(worker)
    worker.once('exit', (code, signal) => {
      running.delete(worker)
      if (closing) return
      logger.error({ pid: worker.process.pid, code, signal }, 'a process ended unexpectedly; a new one starts')
      setTimeout(() => closing || start(), restartPauseMs)
    })
    return worker
  }
  const stop = async () => {
    closing = true
    await Promise.all(
      [...running].map((worker) => {
        const ended = once(worker, 'exit')
        if (worker.isConnected()) worker.send(close)
        else worker.kill()
        return ended
      }),
    )
  }
  try {
    await Promise.all(Array.from({ length: count }, () => untilReady(start())))
    return stop
  } catch (error) {
    await stop()
    throw error
  }
}
