import { PgBoss } from 'pg-boss'
import type { Logger } from 'pino'
import type { Tx } from '../db/client.ts'
import { describeError } from '../db/errors.ts'

/** Work that a transaction leaves behind, by queue. A payload holds ids alone; the row is the truth. */
export type Payloads = {
  'payments.dispatch': { id: string }
  'topups.dispatch': { id: string }
  'callbacks.process': { id: string }
}
export type QueueName = keyof Payloads
export const queueNames: readonly QueueName[] = ['payments.dispatch', 'topups.dispatch', 'callbacks.process']

export type Handlers = { [Name in QueueName]: (payload: Payloads[Name]) => Promise<void> }

/** Looks for what is due and does it; idempotent, and harmless when nothing is due. */
export type Sweep = { name: string; everySeconds: number; run: () => Promise<void> }

export type Jobs = {
  /** Leaves a job in the caller's transaction; it is worked on at once after the commit. */
  enqueue: <Name extends QueueName>(tx: Tx, name: Name, payload: Payloads[Name]) => Promise<void>
  start: (handlers: Handlers, sweeps: readonly Sweep[]) => Promise<void>
  /** Works off everything that is waiting, then returns how much that was: for tests and for commands. */
  drain: () => Promise<number>
  /** Runs every sweep once, now. */
  sweep: () => Promise<void>
  stop: () => Promise<void>
}

const sweepQueue = (name: string) => `sweep.${name}`
const batchSize = 10

/** Installs the queue's tables; at start, and in the tests' template database. */
export const installJobs = async (databaseUrl: string): Promise<void> => {
  const boss = new PgBoss({ connectionString: databaseUrl, max: 1, supervise: false, schedule: false })
  boss.on('error', () => undefined)
  await boss.start()
  for (const name of queueNames) {
    await boss.createQueue(name, {
      retryLimit: 20,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 60,
      expireInSeconds: 120,
      heartbeatSeconds: 20,
      deleteAfterSeconds: 86_400,
    })
  }
  await boss.stop({ graceful: false })
}

export const createJobs = (options: { databaseUrl: string; mode: 'inline' | 'off'; logger: Logger }): Jobs => {
  const { logger } = options
  const boss = new PgBoss({
    connectionString: options.databaseUrl,
    application_name: 'payments-service-jobs',
    max: options.mode === 'off' ? 1 : 4,
    supervise: options.mode === 'inline',
    schedule: false,
    migrate: false,
    createSchema: false,
    monitorIntervalSeconds: 30,
  })
  boss.on('error', (error) => logger.warn(describeError(error), 'the job queue had an error'))
  const workers = new Map<QueueName, string[]>()
  const timers: NodeJS.Timeout[] = []
  let handlers: Handlers | undefined
  let sweeps: readonly Sweep[] = []
  let stopping = false

  const handle = async (name: QueueName, data: Payloads[QueueName]): Promise<void> => {
    if (!handlers) throw new Error('jobs were not started')
    await handlers[name](data)
  }
  const wake = (name: QueueName) => {
    for (const id of workers.get(name) ?? []) boss.notifyWorker(id)
  }
  const runSweep = async (sweep: Sweep): Promise<void> => {
    try {
      await sweep.run()
    } catch (error) {
      logger.error({ sweep: sweep.name, ...describeError(error) }, 'a sweep failed')
    }
  }

  const startWorker = async (name: QueueName): Promise<void> => {
    const id = await boss.work<Payloads[QueueName]>(
      name,
      { batchSize, pollingIntervalSeconds: 1, perJobResults: true },
      async (jobs) => {
        const results = await Promise.allSettled(jobs.map((job) => handle(name, job.data)))
        return results.map((result, index) => {
          const jobId = jobs[index]?.id ?? ''
          if (result.status === 'fulfilled') return { id: jobId, status: 'completed' as const }
          logger.error({ queue: name, job: jobId, ...describeError(result.reason) }, 'a job failed and will be tried again')
          return { id: jobId, status: 'failed' as const }
        })
      },
    )
    workers.set(name, [...(workers.get(name) ?? []), id])
  }
  /** One run every `everySeconds` over all processes: pg-boss lets one through per slot. */
  const startSweep = async (sweep: Sweep): Promise<void> => {
    const queue = sweepQueue(sweep.name)
    await boss.createQueue(queue, { retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 60 })
    await boss.work(queue, { pollingIntervalSeconds: Math.max(1, sweep.everySeconds / 2) }, () => runSweep(sweep))
    const ask = () => {
      if (!stopping)
        boss
          .send(queue, {}, { singletonSeconds: sweep.everySeconds })
          .catch((error: unknown) => logger.warn(describeError(error), 'a sweep could not be asked for'))
    }
    ask()
    timers.push(setInterval(ask, sweep.everySeconds * 1000).unref())
  }

  return {
    enqueue: async (tx, name, payload) => {
      await boss.send(name, payload, { db: { executeSql: async (text, values) => ({ rows: await tx.query(text, values) }) } })
      tx.afterCommit(() => wake(name))
    },
    start: async (given, givenSweeps) => {
      handlers = given
      sweeps = givenSweeps
      await boss.start()
      if (options.mode === 'off') return
      for (const name of queueNames) await startWorker(name)
      for (const sweep of sweeps) await startSweep(sweep)
    },
    drain: async () => {
      let done = 0
      for (let more = true; more; ) {
        more = false
        for (const name of queueNames) {
          const jobs = await boss.fetch<Payloads[QueueName]>(name, { batchSize })
          for (const job of jobs) {
            await handle(name, job.data)
            await boss.complete(name, job.id)
            done += 1
            more = true
          }
        }
      }
      return done
    },
    sweep: async () => {
      for (const sweep of sweeps) await sweep.run()
    },
    stop: async () => {
      stopping = true
      for (const timer of timers) clearInterval(timer)
      await boss.stop({ graceful: true, timeout: 3_000 })
    },
  }
}
