import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { fastify } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { expect, onTestFinished, test } from 'vitest'
import type { Db } from '../../src/db/client.ts'
import { Stream } from '../../src/events/stream.ts'
import type { App } from '../../src/http/app-type.ts'
import { registerShutdown } from '../../src/http/drain.ts'
import { registerConstantHeaders } from '../../src/http/server.ts'
import { openSse, type SseConnection } from '../../src/http/sse.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const heapUsed = async (): Promise<number> => {
  for (let round = 0; round < 3; round += 1) {
    await turn()
    collect()
  }
  return process.memoryUsage().heapUsed
}

const count = 200
const beginning = { transaction: '0', id: '00000000-0000-0000-0000-000000000000' }

test('an idle stream keeps less than 9.5 KB of the heap, nearly all of it in Node and Fastify', async () => {
  const app: App = fastify({ requestTimeout: 0 }).withTypeProvider<ZodTypeProvider>()
  registerShutdown(app, { hasBegun: false })
  registerConstantHeaders(app, true, { now: () => new Date() })
  app.decorateRequest('caller', null)
  const kept: { connection: SseConnection; stream: Stream }[] = []
  app.get('/', (_request, reply) => {
    const connection = openSse(reply, { pingSeconds: 60 })
    const stream = new Stream(
      { accountId: 'a', permissions: new Set(), workspaces: new Map(), grants: [], isDelegated: true, expiresAt: null },
      {
        // An idle stream reads nothing.
        db: {} as Db,
        sink: connection,
        send: () => true,
        resolveReader: () => Promise.reject(new Error('an idle stream looks at nothing')),
        hasEnded: () => true,
        onReader: () => undefined,
        from: beginning,
        replay: false,
        delivered: () => beginning,
        isPast: () => false,
      },
    )
    kept.push({ connection, stream })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const sockets: ReturnType<typeof connect>[] = []
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await app.close()
  })
  const open = async () => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await once(socket, 'data')
    socket.on('data', () => undefined)
  }
  for (let warm = 0; warm < 50; warm += 1) await open()
  const openMany = async () => {
    const before = await heapUsed()
    for (let opened = 0; opened < count; opened += 50) await Promise.all(Array.from({ length: 50 }, open))
    return ((await heapUsed()) - before) / count
  }
  // The first round includes one-time costs (compiled code). Then the median: an earlier test's leftovers allocate too.
  await openMany()
  const found: number[] = []
  for (let round = 0; round < 5; round += 1) found.push(await openMany())
  expect(found.toSorted((a, b) => a - b)[2]).toBeLessThan(9_500)
})
