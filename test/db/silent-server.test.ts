import { createServer, connect as dial, type Socket } from 'node:net'
import pino from 'pino'
import { expect, test } from 'vitest'
import { connect } from '../../src/db/connect.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createTestDatabase } from '../harness/postgres.ts'

/** Connections that are open when `freeze` is called stay open, and nothing passes on them any more; those that come later work. */
const startFreezable = async (databaseUrl: string) => {
  const { hostname, port } = new URL(databaseUrl)
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = dial({ host: hostname, port: Number(port) })
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const address = server.address()
  const url = new URL(databaseUrl)
  url.port = String(typeof address === 'object' && address ? address.port : 0)
  url.hostname = '127.0.0.1'
  return {
    url: url.href,
    /** `spared`: of how many connections, the oldest, it goes on. */
    freeze: (spared = 0) => {
      for (const socket of [...open].slice(2 * spared)) socket.unpipe().pause()
    },
    close: () => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

const connectTo = (
  url: string,
  { poolSize = 1, statementTimeoutMs = 6_000 }: { poolSize?: number; statementTimeoutMs?: number },
) => connect({ url, poolSize, logger: pino({ level: 'silent' }), clock: systemClock, statementTimeoutMs })

test('after one connection got no answer, no caller waits for another connection of that server', async () => {
  const database = await createTestDatabase()
  const server = await startFreezable(database.url)
  const db = connectTo(server.url, { poolSize: 5 })
  const ask = () => db.transaction(async (tx) => (await tx.query<{ one: number }>('select 1 as one'))[0]?.one)
  // Five connections, all idle afterwards.
  await Promise.all(Array.from({ length: 5 }, () => db.transaction((tx) => tx.query('select pg_sleep(0.05)'))))
  expect(db.pool.idleCount).toBe(5)
  // The lanes have a connection each, which is idle too.
  expect(await db.lookup('select 1 as one')).toEqual([{ one: 1 }])
  server.freeze()
  await expect(ask()).rejects.toThrow()
  expect([await ask(), await ask(), await ask(), await ask()]).toEqual([1, 1, 1, 1])
  expect(await db.lookup('select 1 as one')).toEqual([{ one: 1 }])
  await db.close()
  server.close()
  await database.drop()
})

test('also when its begin left before its first statement, which then only finds the connection ended', async () => {
  const database = await createTestDatabase()
  const server = await startFreezable(database.url)
  const db = connectTo(server.url, { poolSize: 2, statementTimeoutMs: 3_000 })
  const ask = () => db.transaction((tx) => tx.query<{ one: number }>('select 1 as one'))
  await Promise.all(Array.from({ length: 2 }, () => db.transaction((tx) => tx.query('select pg_sleep(0.05)'))))
  server.freeze()
  const late = db.transaction(async (tx) => {
    // The time-outs of both have a millisecond of their own.
    await new Promise((resolve) => setTimeout(resolve, 20))
    return tx.query('select 1')
  })
  await expect(late).rejects.toThrow()
  expect([await ask(), await ask()]).toEqual([[{ one: 1 }], [{ one: 1 }]])
  await db.close()
  server.close()
  await database.drop()
})

test('a connection that was in use when another one got no answer ends with what it does then', async () => {
  const database = await createTestDatabase()
  const server = await startFreezable(database.url)
  const db = connectTo(server.url, { poolSize: 3 })
  const process = async () =>
    db.transaction(async (tx) => (await tx.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid)
  const [begun, goesOn] = [Promise.withResolvers<number | undefined>(), Promise.withResolvers<void>()]
  const held = db.transaction(async (tx) => {
    begun.resolve((await tx.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]?.pid)
    await goesOn.promise
  })
  const old = await begun.promise
  expect(await process()).not.toBe(old)
  server.freeze(1)
  await expect(process()).rejects.toThrow()
  goesOn.resolve()
  await held
  const later = [await process(), await process(), await process()]
  expect(later.every((pid) => pid !== undefined && pid !== old)).toBe(true)
  await db.close()
  server.close()
  await database.drop()
})

test('a server that accepts a connection and says nothing is unavailable, not a fault of ours', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined))
  await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready))
  const address = silent.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const db = connectTo(`postgres://payments@127.0.0.1:${port}/payments`, { statementTimeoutMs: 3_000 })
  await expect(db.lookup('select 1')).rejects.toMatchObject({ code: 'unavailable', status: 503 })
  await db.close()
  silent.close()
})
