import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../harness/client.ts'
import { signIn } from '../harness/people.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { openStream } from '../harness/stream.ts'
import { killAll, patience, type SpawnOptions, spawnServer } from './process.ts'

let database: TestDatabase
let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'listeners-'))
  database = await createTestDatabase()
})
afterEach(killAll)
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const start = async (variables: Record<string, string> = {}, options: SpawnOptions = {}) => {
  const server = spawnServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, ...variables }, options)
  return { server, ...(await server.ready()) }
}

/** An unfinished request: headers and half of the body. `finish` sends the rest. */
const halfARequest = async (url: string) => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setEncoding('utf8')
  await once(socket, 'connect')
  const body = JSON.stringify({ chain_id: 1 })
  const head = `POST /v1/auth/wallet/nonce HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
  socket.write(head)
  // Node says "continue" once the request has reached the service: from here on it is under way.
  await once(socket, 'data')
  socket.write(body.slice(0, 5))
  let answer = ''
  socket.on('data', (chunk: string) => {
    answer += chunk
  })
  return {
    finish: async () => {
      socket.write(body.slice(5))
      await once(socket, 'close')
      return answer
    },
  }
}

describe('the two listeners', patience, () => {
  it('serve metrics and callbacks only on the private one, and a signal reaches them through npm, which waits for their end', async () => {
    const { server, url, operatorUrl } = await start({}, { command: ['npm', 'start'] })
    for (const path of ['/metrics', '/callbacks', '/callbacks/daraja/x/y']) expect((await fetch(url + path)).status).toBe(404)
    expect(JSON.stringify(await (await fetch(`${url}/openapi.json`)).json())).not.toMatch(/metrics|callbacks/)
    await fetch(`${url}/healthz`)
    const metrics = await (await fetch(`${operatorUrl}/metrics`)).text()
    expect(metrics).toMatch(/http_request_seconds_count\{operation="service.health",status="200"\} 1/)
    expect(metrics).toMatch(/database_up 1/)
    expect(metrics).toMatch(/attention_open\{kind="payment_unknown"\} 0/)
    expect(metrics).toMatch(/events_lag_seconds \d/)
    server.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect(server.stdout()).toContain('SIGTERM: finishing requests and payments in progress')
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  })
})

describe('a signal', patience, () => {
  it('lets a request under way finish, ends open streams, and ends the process within ten seconds', async () => {
    const { server, url } = await start()
    const person = await signIn(createClient(url))
    const stream = await fetch(`${url}/v1/notifications/stream`, { headers: { cookie: `service_session=${person.cookie}` } })
    expect(stream.status).toBe(200)
    const drained = stream.text()
    const request = await halfARequest(url)
    server.kill('SIGTERM')
    await server.waitForOutput(/finishing requests and payments in progress/)
    expect(await request.finish()).toMatch(/^HTTP\/1\.1 200 /)
    expect(await drained).toContain('retry: 3000')
    // After ten seconds it would have exited with 1.
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  it('makes the process not ready at once, and serves on until the delay is over', async () => {
    const { server, url, operatorUrl } = await start({ SHUTDOWN_DELAY_MS: '8000' })
    const person = await signIn(createClient(url))
    const stream = await openStream(person.api)
    const since = performance.now()
    server.kill('SIGTERM')
    await server.waitForOutput(/finishing requests and payments in progress/)
    const ready = await fetch(`${url}/readyz`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ error: 'unavailable', message: 'This process is about to end.' })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const renamed = await person.api.patch('/v1/accounts/me', { display_name: 'Renamed meanwhile' })
    expect(renamed.status).toBe(200)
    expect(renamed.headers.get('connection')).toBe('close')
    expect((await fetch(`${operatorUrl}/healthz`)).headers.get('connection')).toBe('close')
    // An earlier opened stream reports a new sign-in.
    await signIn(createClient(url), person.wallet)
    await stream.next('session.created')
    await stream.ended()
    expect(performance.now() - since).toBeGreaterThan(7_900)
    expect(stream.text()).toMatch(/\nretry: \d{3,4}\n\n$/)
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  it('lets every connection that was open before the end bring its request, also one that waits to be accepted', async () => {
    const { server, url } = await start({ RATE_LIMIT_ENABLED: 'false' })
    const { hostname, port } = new URL(url)
    // The system accepts connections for a stopped process.
    server.kill('SIGSTOP')
    const asked = Array.from({ length: 40 }, async () => {
      const socket = connect(Number(port), hostname).setEncoding('utf8')
      await once(socket, 'connect')
      socket.write(`POST /v1/auth/wallet/nonce HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 0\r\n\r\n`)
      return socket
    })
    const answers = (await Promise.all(asked)).map(async (socket) => (await socket.toArray()).join(''))
    server.kill('SIGTERM')
    server.kill('SIGCONT')
    const heads = (await Promise.all(answers)).map((answer) => answer.split('\r\n\r\n')[0])
    // Not each client is told to close: the process may read a request before it hears of its end.
    for (const head of heads) expect(head).toMatch(/^HTTP\/1\.1 200 /)
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  it('sent a second time ends the process at once, also with requests under way', async () => {
    const { server, url } = await start()
    await halfARequest(url)
    server.kill('SIGTERM')
    await server.waitForOutput(/finishing requests and payments in progress/)
    server.kill('SIGINT')
    // An orderly end would have exited with 0.
    expect((await server.ended).code).toBe(130)
  })

  it('does not wait longer than that for a request that never ends', async () => {
    const { server, url } = await start()
    await halfARequest(url)
    server.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })
})
