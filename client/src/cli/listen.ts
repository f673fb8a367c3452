import type { Payments } from '../client.ts'
import type { PaymentsEvent, StreamReset } from '../events.ts'
import { backoffMs, pause } from '../transport.ts'
import { signedHeaders } from './webhook.ts'

export type ListenOptions = {
  forwardTo: string
  secret: string
  types: readonly string[]
  signal: AbortSignal
  say: (line: string) => void
  /** Where an earlier run ended, and how this one keeps where it is. Without them an event that nobody accepts is given up. */
  resume?: { lastEventId: string | null; keep: (lastEventId: string) => Promise<void> }
}

const attempts = 5

/** What frameworks with webhooks expect: `{type, timestamp, data}`, the event's own id in the header. */
const bodyOf = (event: PaymentsEvent | StreamReset): string =>
  JSON.stringify({ type: event.type, timestamp: event.created_at, data: event.data })

type Outcome = { status: string; accepted: boolean }

const post = (event: PaymentsEvent | StreamReset, { forwardTo, secret, signal }: ListenOptions): Promise<Outcome> => {
  const body = bodyOf(event)
  const id = event.id ?? `reset_${event.created_at}`
  return fetch(forwardTo, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', ...signedHeaders(secret, id, new Date(), body) },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
  }).then(
    ({ status }) => ({ status: String(status), accepted: status >= 200 && status < 300 }),
    (error: unknown) => ({ status: error instanceof Error ? error.message : String(error), accepted: false }),
  )
}

/** Until it is accepted. Only a listener without a state gives up: with one, a later event must not overtake this one. */
const deliver = async (event: PaymentsEvent | StreamReset, options: ListenOptions): Promise<Outcome> => {
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await post(event, options)
    if (outcome.accepted || options.signal.aborted) return outcome
    if (!options.resume && attempt + 1 >= attempts) return outcome
    if (options.resume && attempt % attempts === attempts - 1) options.say(`${event.type} is not accepted: ${outcome.status}`)
    await pause(backoffMs(attempt), options.signal).catch(() => undefined)
  }
}

/** Posts the stream's events to an address, in order, one after the other. */
export const listen = async (client: Payments, options: ListenOptions): Promise<void> => {
  const lastEventId = options.resume?.lastEventId
  const events = client.events({
    signal: options.signal,
    types: options.types,
    ...(lastEventId !== undefined && { lastEventId }),
    onOpen: () => options.say('listening'),
  })
  for await (const event of events) {
    const outcome = await deliver(event, options)
    if (outcome.accepted && event.id !== null) await options.resume?.keep(event.id)
    options.say(`${event.type.padEnd(22)} ${event.id ?? ''} → ${outcome.status}`)
  }
}
