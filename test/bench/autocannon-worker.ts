import { randomBytes } from 'node:crypto'
import autocannon from 'autocannon'
import type { Load, LoadRequest, Measured } from './load.ts'

const { load, connections, seconds } = JSON.parse(process.argv[2] ?? '') as { load: Load; connections: number; seconds: number }

const credentialHeader = (credential: string): Record<string, string> => {
  if (credential === '') return {}
  return credential.startsWith('cookie ')
    ? { cookie: `service_session=${credential.slice(7)}` }
    : { authorization: `Bearer ${credential}` }
}

let sent = 0
const first = Math.floor(Math.random() * 90_000_000)

const headersOf = ({ credential, body, accept }: LoadRequest): Record<string, string> => ({
  ...credentialHeader(credential),
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...(accept !== undefined && { accept }),
})

const written = ({ body }: LoadRequest) => {
  sent += 1
  const number = String(10_000_000 + ((first + sent) % 90_000_000))
  return { 'idempotency-key': randomBytes(9).toString('hex'), body: JSON.stringify(body).replaceAll('{n}', number) }
}

/** Autocannon's connections begin with the first request each: where each is sent once, they take turns by this place in the list. */
let at = 0
const nextOnce = (): LoadRequest => {
  const request = load.requests[at % load.requests.length] as LoadRequest
  at += 1
  return request
}

const prepared = (request: LoadRequest) => {
  const { method, path } = request
  const headers = headersOf(request)
  if (request.body === undefined) return { method, path, headers }
  const { body, ...key } = written(request)
  return { method, path, headers: { ...headers, ...key }, body }
}

const requests = load.requests.map((one) => ({
  method: one.method,
  path: one.path,
  headers: headersOf(one),
  ...(one.body !== undefined && { setupRequest: (request: autocannon.Request) => ({ ...request, ...prepared(one) }) }),
}))

let clients = 0
/** Each connection begins with another request: all of them would else be of the first caller, then all of the second. */
const startElsewhere = (client: autocannon.Client): void => {
  const first = clients % requests.length
  clients += 1
  client.setRequests([...requests.slice(first), ...requests.slice(0, first)].map((request) => ({ ...request })))
}

const options: autocannon.Options = {
  url: load.url,
  connections: load.once ? Math.min(connections, load.requests.length) : connections,
  ...(load.once ? { amount: load.requests.length } : { duration: seconds }),
  timeout: 30,
  ...(load.once
    ? { requests: [{ setupRequest: (request: autocannon.Request) => ({ ...request, ...prepared(nextOnce()) }) }] }
    : { requests, setupClient: startElsewhere }),
}
// Where each request is sent once, autocannon notices the end with its next sample: up to a second later.
const began = performance.now()
let ended = began
const result = await new Promise<autocannon.Result>((resolve, reject) => {
  const running = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)))
  running.on('response', () => {
    ended = performance.now()
  })
})
const lasted = load.once ? (ended - began) / 1000 : result.duration
const measured: Measured = {
  perSecond: result['2xx'] / lasted,
  refused: result.non2xx,
  failed: result.errors + result.timeouts,
  meanMs: result.latency.mean,
  p50Ms: result.latency.p50,
  p99Ms: result.latency.p99,
  maxMs: result.latency.max,
}
process.stdout.write(JSON.stringify(measured))
