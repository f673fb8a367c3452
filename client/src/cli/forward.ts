import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import type { Payments } from '../client.ts'
import { UsageError } from './errors.ts'
import { type ListenOptions, type ListenStatus, listen, newStatus, post, type Undelivered } from './listen.ts'
import { clientOf } from './session.ts'
import { appendLine, readLines, readListenState, takeFile, writeListenState } from './store.ts'
import { flag, type Terminal, text, wholeNumber } from './terminal.ts'
import { newSecret, signingKeyOf } from './webhook.ts'

/** The health check fails if an unfinished event is older than this. */
const longestWaitMs = 60_000

const oldestMs = ({ open }: ListenStatus): number => {
  const [began] = open.values()
  return began === undefined ? 0 : Date.now() - began
}

const metricsOf = (status: ListenStatus): string =>
  [
    ['connected', 'gauge', 'Whether the stream is open (1) or not (0).', status.connected ? 1 : 0],
    ['open_events', 'gauge', 'Events read and not yet delivered.', status.open.size],
    ['oldest_open_seconds', 'gauge', 'Age of the oldest event not yet delivered.', oldestMs(status) / 1_000],
    ['delivered_total', 'counter', 'Events accepted by the program.', status.delivered],
    ['undelivered_total', 'counter', 'Events no longer retried.', status.undelivered],
    ['failed_tries_total', 'counter', 'Failed delivery attempts.', status.failedTries],
  ]
    .map(([name, type, help, value]) => {
      const metric = `payments_listen_${name}`
      return `# HELP ${metric} ${help}\n# TYPE ${metric} ${type}\n${metric} ${value}\n`
    })
    .join('')

const healthOf = (status: ListenStatus) => {
  const isLate = oldestMs(status) > longestWaitMs
  const { open, ...counts } = status
  const body = { healthy: status.connected && !isLate, ...counts, open: open.size, oldest_open_seconds: oldestMs(status) / 1_000 }
  return { code: body.healthy ? 200 : 503, body: JSON.stringify(body) }
}

/** Serves `GET /healthz` and `GET /metrics`, to monitor this process. */
const serveHealth = async (at: string, status: ListenStatus, say: (line: string) => void): Promise<() => void> => {
  const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d{1,5})$/.exec(at) ?? []
  if (port === undefined) throw new UsageError('--health takes a port, or a host and a port: --health 127.0.0.1:9465')
  const server = createServer((request, response) => {
    if (request.url === '/metrics') return response.setHeader('content-type', 'text/plain; version=0.0.4').end(metricsOf(status))
    const { code, body } = healthOf(status)
    return response.writeHead(code, { 'content-type': 'application/json' }).end(body)
  })
  server.listen(Number(port), host)
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  say(`Health and metrics: http://${host}:${bound}/healthz and /metrics`)
  return () => {
    server.closeAllConnections()
    server.close()
  }
}

/** Resends undelivered events in order. Events that fail again return to the file. Returns whether the file is then empty. */
const replay = async (
  file: string,
  options: Pick<ListenOptions, 'forwardTo' | 'secret' | 'signal' | 'say'>,
): Promise<boolean> => {
  const taken = await takeFile(file)
  const failed = new Set<string>()
  for (const line of taken.lines) {
    const kept = JSON.parse(line) as Undelivered
    const { event } = kept
    const resource = String((event.data as { id?: unknown } | null)?.id ?? event.type)
    // A later event of a resource must not overtake a rejected one.
    const outcome = failed.has(resource) ? undefined : await post(event, options)
    if (!outcome?.accepted) {
      failed.add(resource)
      await appendLine(file, JSON.stringify({ ...kept, status: outcome?.status ?? kept.status }))
    }
    options.say(`${event.type.padEnd(22)} ${event.id} → ${outcome?.status ?? 'waits for an earlier event of its resource'}`)
  }
  await taken.done()
  return (await readLines(file)).length === 0
}

const listenWithState = async (client: Payments, file: string, options: ListenOptions) => {
  const { secret, say } = options
  const before = await readListenState(file)
  // Without a starting point, a restart before the first event would miss the events in between.
  const newest = async () => (await client.notifications.list({ limit: 1 }).page()).data[0]?.id ?? null
  const lastEventId = before?.lastEventId === undefined ? await newest() : before.lastEventId
  const keep = (id: string) => writeListenState(file, { secret, lastEventId: id })
  await writeListenState(file, { secret, lastEventId })
  say(`Events are signed with the secret in ${file}`)
  await listen(client, { ...options, resume: { lastEventId, keep } })
}

export const forward = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({
    args: [...terminal.args],
    options: {
      ...{ url: text, forward: text, secret: text, state: text, events: text },
      ...{ tries: text, undelivered: text, replay: flag, health: text },
    },
  })
  const { forward: forwardTo, state } = values
  // Without http:, `localhost:4000/hook` is a valid URL of the scheme localhost.
  if (forwardTo === undefined || !URL.canParse(forwardTo) || !/^https?:$/.test(new URL(forwardTo).protocol))
    throw new UsageError('Name the address: --forward http://localhost:4000/hook')
  const tries = wholeNumber('tries', values.tries ?? (state === undefined ? '5' : '10'))
  if (tries < 1) throw new UsageError('--tries takes a number of at least 1')
  const file = values.undelivered ?? (state && `${state}.undelivered`)
  const { signal, say } = terminal
  const known = values.secret ?? (state === undefined ? undefined : (await readListenState(state))?.secret)
  const secret = known ?? newSecret()
  signingKeyOf(secret)
  if (values.replay) {
    if (file === undefined) throw new UsageError('Name the file: --undelivered FILE, or --state FILE')
    if (known === undefined) say(`Events are signed with ${secret}`)
    if (!(await replay(file, { forwardTo, secret, signal, say }))) process.exitCode = 4
    return
  }
  const client = await clientOf(terminal, values.url)
  const types = values.events?.split(',').map((type) => type.trim()) ?? []
  const status = newStatus()
  status.undelivered = file === undefined ? 0 : (await readLines(file)).length
  const setAside = file === undefined ? undefined : (one: Undelivered) => appendLine(file, JSON.stringify(one))
  const options = { forwardTo, secret, types, signal, say, status, tries, ...(setAside && { setAside }) }
  const close = values.health === undefined ? undefined : await serveHealth(values.health, status, say)
  try {
    if (state !== undefined) return await listenWithState(client, state, options)
    say(`Events are signed with ${secret}`)
    await listen(client, options)
  } finally {
    close?.()
  }
}
