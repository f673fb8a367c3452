import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import fastify from 'fastify'
import { expect, test } from 'vitest'
import { registerDrain } from '../../src/http/drain.ts'

const waiting = 12

/** Concurrent requests on connections, each to a handler that keeps the process busy for that long. */
const askBusy = async (busyMs: number): Promise<{ answered: Promise<string[]>; close: () => Promise<void> }> => {
  const app = fastify({ return503OnClosing: false })
  registerDrain(app as never)
  app.get('/', async () => {
    for (const end = performance.now() + busyMs; performance.now() < end; );
    return 'answered'
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  const sockets = Array.from({ length: waiting }, (): Socket => connect(port, '127.0.0.1').setEncoding('utf8'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const answered = Promise.all(sockets.map(async (socket) => (await socket.toArray()).join('')))
  return { answered, close: () => app.close() }
}

test('a slow process closes its listener only when it has accepted what waited', async () => {
  const { answered, close } = await askBusy(60)
  const closing = close()
  for (const answer of await answered) expect(answer).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*answered$/)
  await closing
})
