import type { Payments } from '../client.ts'
import type { PaymentsEvent, StreamReset } from '../events.ts'
import { backoffMs, pause } from '../transport.ts'
import { signedHeaders } from './webhook.ts'

export type ListenOptions = { forwardTo: string; secret: string; signal: AbortSignal; say: (line: string) => void }

const attempts = 5

/** What frameworks with webhooks expect: `{type, timestamp, data}`, the event's own id in the header. */
const bodyOf = (event: PaymentsEvent | StreamReset): string =>
  JSON.stringify({ type: event.type, timestamp: event.created_at, data: event.data })

const deliver = async (event: PaymentsEvent | StreamReset, options: ListenOptions): Promise<string> => {
  const body = bodyOf(event)
  const id = event.id ?? `reset_${event.created_at}`
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await fetch(options.forwardTo, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...signedHeaders(options.secret, id, new Date(), body) },
      body,
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(15_000)]),
    }).then(
      ({ status }) => ({ status, good: status >= 200 && status < 300 }),
      (error: unknown) => ({ status: error instanceof Error ? error.message : String(error), good: false }),
    )
    if (outcome.good || attempt + 1 >= attempts || options.signal.aborted) return String(outcome.status)
    await pause(backoffMs(attempt), options.signal)
  }
}

/** Posts the stream's events to a local address, in order, one after the other. */
export const listen = async (client: Payments, options: ListenOptions): Promise<void> => {
  for await (const event of client.events({ signal: options.signal, onOpen: () => options.say('listening') })) {
    const outcome = await deliver(event, options)
    options.say(`${event.type.padEnd(22)} ${event.id ?? ''} → ${outcome}`)
  }
}
