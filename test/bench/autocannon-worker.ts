import { randomBytes } from 'node:crypto'
import autocannon from 'autocannon'
import type { Load, Measured } from './load.ts'

const { load, connections, seconds } = JSON.parse(process.argv[2] ?? '') as { load: Load; connections: number; seconds: number }

const credentialHeader = (credential: string): Record<string, string> => {
  if (credential === '') return {}
  return credential.startsWith('cookie ')
    ? { cookie: `service_session=${credential.slice(7)}` }
    : { authorization: `Bearer ${credential}` }
}

const result = await autocannon({
  url: load.url,
  connections,
  duration: seconds,
  timeout: 30,
  requests: load.requests.map(({ method, path, credential, body }) => ({
    method,
    path,
    headers: { ...credentialHeader(credential), ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && {
      setupRequest: (request) => ({
        ...request,
        headers: { ...request.headers, 'idempotency-key': randomBytes(9).toString('hex') },
        body: JSON.stringify(body),
      }),
    }),
  })),
})
const measured: Measured = {
  perSecond: result['2xx'] / result.duration,
  refused: result.non2xx,
  failed: result.errors + result.timeouts,
  meanMs: result.latency.mean,
  p50Ms: result.latency.p50,
  p99Ms: result.latency.p99,
  maxMs: result.latency.max,
}
process.stdout.write(JSON.stringify(measured))
