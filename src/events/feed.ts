import pg from 'pg'
import type { Logger } from 'pino'
import type { Db } from '../db/client.ts'
import { connectionConfig } from '../db/connection-settings.ts'
import { describeError } from '../db/errors.ts'
import { lastId } from '../lib/ids.ts'
import { nextEvents, type Position, readEdge, type StoredEvent } from './read.ts'

/** While `isListening` is false, no events are read and only the position advances. */
type Listener = { receive: (events: readonly StoredEvent[]) => void; isListening: () => boolean }

const channel = 'events'
const batchSize = 500
const slowPollMs = 1_000
/** A silent connection whose server does not respond is closed and reopened. */
const heartbeatMs = 10_000
const answerTimeoutMs = 5_000
/** How often to read again while a slower transaction blocks newer events. */
const unsettledPollMs = 25

/** Runs `work` once for all callers in the same turn. A call during a run causes another run. */
const oneAtATime = (work: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined
  let again = false
  const run = async () => {
    while (again) {
      await Promise.resolve()
      again = false
      await work()
    }
    // Cleared in the same turn as the last check of `again`, so that later callers start a new run.
    running = undefined
  }
  return () => {
    again = true
    running ??= run()
    return running
  }
}

/** Delivers the events of all tenants once and in order, as they become settled. */
export const createFeed = ({ db, databaseUrl, logger }: { db: Db; databaseUrl: string; logger: Logger }) => {
  let listener: Listener | undefined
  let onWake = () => {}
  const isNeeded = () => listener?.isListening() ?? false
  let position: Position = { transaction: '0', id: lastId }
  let connection: pg.Client | undefined
  let isBlocked = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let listenTimer: NodeJS.Timeout | undefined

  const schedule = (ms: number) => {
    clearTimeout(timer)
    if (!stopped) timer = setTimeout(() => void read(), ms).unref()
  }

  const deliverNext = async (): Promise<void> => {
    const next = await nextEvents(db, position, batchSize)
    const last = next.events.at(-1)
    // The position advances before the listener is called, so a stream opened during the call starts after these events.
    if (last) {
      position = { transaction: last.transaction, id: last.id }
      listener?.receive(next.events)
    }
    isBlocked = next.isBlocked
    if (next.events.length === batchSize) void read()
  }

  /** If a stream opened while the edge was being read, the position stays, so that the stream misses nothing. */
  const skipToEdge = async (): Promise<void> => {
    const edge = await readEdge(db)
    isBlocked = false
    if (isNeeded()) void read()
    else position = edge
  }

  const read = oneAtATime(async () => {
    if (stopped) return
    try {
      await (isNeeded() ? deliverNext() : skipToEdge())
      schedule(isBlocked ? unsettledPollMs : slowPollMs)
    } catch (error) {
      if (!stopped) logger.warn(describeError(error), 'events could not be read')
      schedule(slowPollMs)
    }
  })

  const listenAgain = () => {
    clearTimeout(listenTimer)
    if (!stopped) listenTimer = setTimeout(() => void listen(), slowPollMs).unref()
  }

  const listen = async (): Promise<void> => {
    const client = new pg.Client({
      ...connectionConfig(databaseUrl),
      application_name: 'payments-service-events',
      connectionTimeoutMillis: answerTimeoutMs,
      // In pipeline mode, a query that times out ends its connection.
      pipeline: true,
      query_timeout: answerTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: heartbeatMs,
    })
    client.on('error', () => undefined)
    client.on('end', () => {
      if (connection === client) connection = undefined
      listenAgain()
    })
    client.on('notification', () => {
      onWake()
      if (isNeeded()) void read()
    })
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      if (stopped) return void (await client.end())
      connection = client
      // The heartbeat runs only while the connection is open.
      const heartbeat = setInterval(
        () => void client.query('select 1').catch(() => clearInterval(heartbeat)),
        heartbeatMs,
      ).unref()
      void read()
    } catch (error) {
      if (!stopped) logger.warn(describeError(error), 'the event listener is disconnected; polling continues')
      await client.end().catch(() => undefined)
      listenAgain()
    }
  }

  const notify = oneAtATime(async () => {
    if (!stopped) await connection?.query(`notify ${channel}`).catch(() => undefined)
  })

  return {
    start: async (): Promise<void> => {
      position = await readEdge(db)
      await listen()
      schedule(slowPollMs)
    },
    /** Notifies all processes, this one first. Calls are coalesced and never part of a transaction. */
    wake: (): void => {
      if (connection) void notify()
      else if (isNeeded()) void read()
    },
    /** Position of the last event that the listener received. */
    position: (): Position => position,
    subscribe: (subscribed: Listener): void => {
      listener = subscribed
    },
    /** Sets a function that is called when any process has committed events. Calls may be lost. */
    onWake: (wake: () => void): void => {
      onWake = wake
    },
    /** For tests: waits until all events committed so far are read. */
    settle: async (): Promise<void> => {
      for (;;) {
        await read()
        if (!isBlocked) return
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    stop: async (): Promise<void> => {
      stopped = true
      clearTimeout(timer)
      clearTimeout(listenTimer)
      await read()
      await connection?.end().catch(() => undefined)
    },
  }
}

export type Feed = ReturnType<typeof createFeed>
