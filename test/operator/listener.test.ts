import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { openService } from '../harness/service.ts'

const service = await openService({ env: { OPERATOR_ALLOWED_HOSTS: 'service', LOG_LEVEL: 'debug' } })

const statusFor = (host: string, method = 'GET', path = '/metrics') =>
  new Promise<number | undefined>((resolve, reject) => {
    request(`${service.operatorUrl}${path}`, { method, headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .once('error', reject)
      .end()
  })

test.each(['evil.example', 'evil.example:3001', 'localhost.evil.example', '127.0.0.1.evil.example', '10.1.2.3', 'service2'])(
  'the private listener answers 403 to %s, whatever is asked for',
  async (host) => {
    for (const [method, path] of [
      ['GET', '/metrics'],
      ['GET', '/healthz'],
      ['POST', '/sandbox/clock'],
      ['POST', '/callbacks/x/y/result'],
      ['GET', '/nothing'],
    ] as const)
      expect([path, await statusFor(host, method, path)]).toEqual([path, 403])
  },
)

test.each(['localhost', 'LOCALHOST:3001', '127.0.0.1', '[::1]:3001', 'service:3001', 'service.'])(
  'it answers under its own name %s',
  async (host) => expect(await statusFor(host)).toBe(200),
)

test('a sender that leaves before its body has arrived is no error', async () => {
  const { hostname, port } = new URL(service.operatorUrl)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(`POST /callbacks/x/y/result HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 1000\r\n\r\nhalf of it`)
  const left = () => service.log.filter((line) => line.includes('disconnected before its body arrived'))
  // Node has read the head when it answers the connection's second request; here the log shows it.
  socket.destroySoon()
  await expect.poll(left).toHaveLength(1)
  expect(service.log.filter((line) => JSON.parse(line).level >= 40)).toEqual([])
  expect(service.log.join('')).not.toContain('/callbacks/x')
})
