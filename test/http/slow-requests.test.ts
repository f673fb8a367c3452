import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { networkOf } from '../../src/http/rate-limit.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'

const service = await openService({
  env: { STREAM_PING_SECONDS: '1', KEEP_ALIVE_SECONDS: '1' },
  fixed: { REQUEST_TIMEOUT_MS: 900 },
})

const listeners = [
  ['public', () => service.api.url, '/v1/oauth/token'],
  ['private', () => service.operatorUrl, '/callbacks/0192f0c4-5b1e-7cc3-9a53-3f0f6a9d1b11/x/result'],
] as const

/** Sends the given bytes and nothing more. Resolves with the answer once the server closes the connection. */
const holdOpen = async (url: string, sent: string): Promise<string> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  await once(socket, 'connect')
  if (sent !== '') socket.write(sent)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

describe.each(listeners)('the %s listener ends a connection', (_name, url, path) => {
  test('whose headers do not arrive in time', async () => {
    expect(await holdOpen(url(), `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Slow: `)).toMatch(/^HTTP\/1.1 4\d\d /)
  })

  test('whose body does not arrive in time', async () => {
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"a":`
    expect(await holdOpen(url(), head)).toMatch(/^HTTP\/1.1 4\d\d /)
  })

  test('that is opened and sends nothing', async () => {
    await holdOpen(url(), '')
  })

  test('that is idle for KEEP_ALIVE_SECONDS, which its answers state, and not before: a second request on it is answered', async () => {
    const { hostname, port } = new URL(url())
    const socket = connect({ host: hostname, port: Number(port) })
    const request = `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`
    const answers: string[] = []
    for (let sent = 0; sent < 2; sent += 1) {
      socket.write(request)
      const [chunk] = (await once(socket, 'data')) as [Buffer]
      answers.push(chunk.toString())
    }
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 \d+ .*\r\nKeep-Alive: timeout=1\r\n/is)
    await once(socket, 'close')
  })
})

test('a connection on which nothing was sent gets no answer, which a browser would take for that of its first request', async () => {
  expect(await holdOpen(service.api.url, '')).toBe('')
})

test('a stream does not count as a slow request', async () => {
  const person = await signIn(service.api)
  const stream = await openStream(person.api)
  await stream.comment()
  await person.api.post('/v1/accounts/me/api-keys', { name: 'Agent' })
  expect((await stream.next('api_key.created')).type).toBe('api_key.created')
  stream.close()
})

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('%s shares the allowance of %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
