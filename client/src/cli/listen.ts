import type { Payments } from '../client.ts'
import type { PaymentsEvent, StreamReset } from '../events.ts'
import { backoffMs, pause } from '../transport.ts'
import { signedHeaders } from './webhook.ts'

/** An event that the program did not accept, stored in a file until a person replays it. */
export type Undelivered = { event: PaymentsEvent; status: string; tries: number; at: string }

/** Counters for the health check and the metrics. */
export type ListenStatus = {
  connected: boolean
  delivered: number
  undelivered: number
  failedTries: number
  /** Start times of the unfinished events, by event id. */
  open: Map<string, number>
  lastFailure: string | null
}
export const newStatus = (): ListenStatus => ({
  ...{ connected: false, delivered: 0, undelivered: 0, failedTries: 0 },
  ...{ open: new Map(), lastFailure: null },
})

export type ListenOptions = {
  forwardTo: string
  secret: string
  types: readonly string[]
  signal: AbortSignal
  say: (line: string) => void
  status: ListenStatus
  /** Number of rejections after which an event is abandoned. */
  tries: number
  /** The position of an earlier run, and how to save the current one. If set, waits while the program is unreachable. */
  resume?: { lastEventId: string | null; keep: (lastEventId: string) => Promise<void> }
  setAside?: (undelivered: Undelivered) => Promise<void>
}

/** Limits the load on a slow program. */
const maxAtOnce = 8
/** Maximum number of unfinished events, including those behind an event of the same resource. At the limit, reading stops. */
const maxOpen = 1_000
const answerTimeoutMs = 15_000

type Sent = PaymentsEvent | StreamReset
type Sending = Pick<ListenOptions, 'forwardTo' | 'secret' | 'signal'>

/** `isAway`: the program could not be reached, so it has not rejected the event. */
export type Outcome = { status: string; accepted: boolean; isAway: boolean }

/** Webhook frameworks expect `{type, timestamp, data}`, with the event's id in a header. */
const bodyOf = (event: Sent): string => JSON.stringify({ type: event.type, timestamp: event.created_at, data: event.data })

const away: ReadonlySet<number> = new Set([429, 502, 503, 504])

const outcomeOf = ({ status, headers }: Response): Outcome => {
  const moved = status >= 300 && status < 400
  const to = moved ? ` (moved to ${headers.get('location')}: forward there instead)` : ''
  return { status: `${status}${to}`, accepted: status >= 200 && status < 300, isAway: moved || away.has(status) }
}

export const post = async (event: Sent, { forwardTo, secret, signal }: Sending): Promise<Outcome> => {
  const body = bodyOf(event)
  const id = event.id ?? `reset_${event.created_at}`
  const signature = signedHeaders(secret, id, new Date(), body)
  try {
    const response = await fetch(forwardTo, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...signature },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
    })
    // An unread response would keep its connection open.
    await response.body?.cancel()
    return outcomeOf(response)
  } catch (error) {
    const { name, message, cause } = error instanceof Error ? error : new Error(String(error))
    const why = cause instanceof Error ? `${message}: ${cause.message || ('code' in cause ? cause.code : cause.name)}` : message
    return { status: why, accepted: false, isAway: name !== 'TimeoutError' }
  }
}

/** Runs at most `most` tasks at once. Others wait in order. */
const createSlots = (most: number) => {
  const waiting: (() => void)[] = []
  let taken = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (taken >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else taken += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else taken -= 1
    }
  }
}

/** Saves the id up to which all events are finished. A restart loses nothing, and repeats unfinished events. */
const createProgress = (keep: (id: string) => Promise<void>) => {
  const begun: { id: string; done: boolean }[] = []
  let writing = Promise.resolve()
  return {
    begin: (id: string) => {
      const entry = { id, done: false }
      begun.push(entry)
      return async () => {
        entry.done = true
        let last: string | undefined
        while (begun[0]?.done) last = begun.shift()?.id
        const upTo = last
        if (upTo !== undefined) writing = writing.then(() => keep(upTo))
        await writing
      }
    },
  }
}

const nameOf = (event: Sent): string => `${event.type.padEnd(22)} ${event.id ?? ''}`
const resourceOf = ({ type, data }: PaymentsEvent): string => {
  const { id } = (data ?? {}) as { id?: unknown }
  return typeof id === 'string' ? id : type
}

/** Retries until the event is accepted, abandoned or stopped. Frees the slot between two tries. */
const deliver = async (event: Sent, options: ListenOptions, inSlot: ReturnType<typeof createSlots>) => {
  const { status, tries, signal, resume, say } = options
  let refused = 0
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await inSlot(() => post(event, options))
    if (outcome.accepted || signal.aborted) return { ...outcome, tries: refused }
    status.failedTries += 1
    status.lastFailure = outcome.status
    const counts = !outcome.isAway || !resume
    refused += counts ? 1 : 0
    if (refused >= tries) return { ...outcome, tries: refused }
    // Prints the first and then every fifth try, because a program may be away for hours.
    if (counts || attempt % 5 === 0)
      say(`${nameOf(event)} is not accepted: ${outcome.status}${counts ? ` (${refused} of ${tries} tries)` : ''}`)
    await pause(backoffMs(attempt), signal).catch(() => undefined)
  }
}

/** Posts the stream's events to a URL, in order for each resource. A rejected event delays only its own resource. */
export const listen = async (client: Payments, options: ListenOptions): Promise<void> => {
  const { status, say, signal, resume } = options
  const failed = new AbortController()
  const stopping = { ...options, signal: AbortSignal.any([signal, failed.signal]) }
  const inSlot = createSlots(maxAtOnce)
  const progress = createProgress(async (id) => resume?.keep(id))
  const lastOf = new Map<string, Promise<void>>()

  const handle = async (event: Sent, done: () => Promise<void>): Promise<void> => {
    if (stopping.signal.aborted) return
    const outcome = await deliver(event, stopping, inSlot)
    if (!outcome.accepted && stopping.signal.aborted) return
    if (!outcome.accepted && event.id !== null) {
      await options.setAside?.({ event, status: outcome.status, tries: outcome.tries, at: new Date().toISOString() })
      status.undelivered += 1
    }
    if (outcome.accepted) status.delivered += 1
    await done()
    say(`${nameOf(event)} → ${outcome.status}${outcome.accepted ? '' : `: not delivered after ${outcome.tries} tries`}`)
  }

  const begin = (event: PaymentsEvent): void => {
    const resource = resourceOf(event)
    const done = progress.begin(event.id)
    status.open.set(event.id, Date.now())
    const task = (lastOf.get(resource) ?? Promise.resolve())
      .then(() => handle(event, done))
      .catch((error: unknown) => failed.abort(error))
      .finally(() => {
        status.open.delete(event.id)
        if (lastOf.get(resource) === task) lastOf.delete(resource)
      })
    lastOf.set(resource, task)
  }
  const finished = () => Promise.all(lastOf.values())

  const events = client.events({
    signal: stopping.signal,
    types: options.types,
    ...(resume && { lastEventId: resume.lastEventId }),
    onOpen: () => {
      status.connected = true
      say('listening')
    },
    onReconnect: () => {
      status.connected = false
    },
  })
  for await (const event of events) {
    if (event.id === null) {
      // Events before a reset are delivered before it, and later events after it.
      await finished()
      await handle(event, async () => {})
      continue
    }
    begin(event)
    while (status.open.size >= maxOpen) await Promise.race(lastOf.values())
  }
  await finished()
  if (failed.signal.aborted) throw failed.signal.reason
}
