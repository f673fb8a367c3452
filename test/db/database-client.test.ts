import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DatabaseClient } from '../../src/db/database-client.ts'
import { isUnavailable, sqlState } from '../../src/db/errors.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { freePort } from '../harness/service.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** The test's server after others, which are at ports of this machine. */
const behind = (ports: readonly number[], more = '') => {
  const { host } = new URL(database.url)
  const others = ports.map((port) => `127.0.0.1:${port},`).join('')
  return `${database.url.replace(`@${host}/`, `@${others}${host}/`)}?target_session_attrs=read-write${more}`
}

const ask = async (connectionString: string, connectionTimeoutMillis = 5_000) => {
  const client = new DatabaseClient({ connectionString, connectionTimeoutMillis, application_name: 'several' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(`select current_setting('application_name') as name`)
    return rows[0]?.name
  } finally {
    await client.end()
  }
}

/** Answers each connection with `bytes`, or never. */
const listening = async (bytes?: Buffer) => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => undefined)
    if (bytes) socket.once('data', () => socket.end(bytes))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    connections: () => connections,
    close: () => server.close(),
  }
}

/** PostgreSQL's answer while it starts. */
const starting = () => {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0')
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

describe('a connection to several servers', () => {
  test('goes to the next one when the first refuses connections', async () => {
    expect(await ask(behind([await freePort()]))).toBe('several')
  })

  test('goes to the next one when the first never answers, and then tries that one last', async () => {
    const silent = await listening()
    expect(await ask(behind([silent.port], '&connect_timeout=1'))).toBe('several')
    const before = silent.connections()
    expect(await ask(behind([silent.port], '&connect_timeout=5'))).toBe('several')
    expect(silent.connections()).toBe(before)
    silent.close()
  })

  test('goes to the next one when the first is starting, or closes the connection', async () => {
    const [starts, closes] = await Promise.all([listening(starting()), listening(Buffer.alloc(0))])
    expect(await ask(behind([starts.port, closes.port]))).toBe('several')
    starts.close()
    closes.close()
  })

  test('is refused a wrong password once: no other server is asked', async () => {
    const wrong = behind([]).replace(/:[^:@/]+@([^/]+)\//, (_, host) => `:wrong@${host},127.0.0.1:1/`)
    await expect(ask(wrong)).rejects.toSatisfy((error) => sqlState(error) === '28P01')
  })

  test('never stays on a server that takes no writes: the error is that of a write there', async () => {
    const readOnly = `alter database "${new URL(database.url).pathname.slice(1)}" set default_transaction_read_only = `
    const direct = new DatabaseClient({ connectionString: database.url })
    await direct.connect()
    await direct.query(`${readOnly} on`)
    try {
      const refused = ask(behind([await freePort()]))
      await expect(refused).rejects.toThrow(/^no server can be used: 127\.0\.0\.1:\d+: ECONNREFUSED; .+: is read-only$/)
      await expect(refused).rejects.toSatisfy((error) => isUnavailable(error) && sqlState(error) === '25006')
      expect(await ask(behind([]).replace('read-write', 'primary'))).toBe('several')
      expect(await ask(behind([]).replace('read-write', 'any'))).toBe('several')
    } finally {
      await direct.query('set default_transaction_read_only = off')
      await direct.query(`${readOnly} off`)
      await direct.end()
    }
  })

  test('fails with every reason when no server answers, and can be ended then', async () => {
    const [one, two] = [await freePort(), await freePort()]
    const address = `postgres://u:secret@127.0.0.1:${one},127.0.0.1:${two}/db?target_session_attrs=read-write`
    const client = new DatabaseClient({ connectionString: address, connectionTimeoutMillis: 2_000 })
    const refused = client.connect()
    await expect(refused).rejects.toThrow(`127.0.0.1:${one}: ECONNREFUSED; 127.0.0.1:${two}: ECONNREFUSED`)
    await expect(refused).rejects.toSatisfy(isUnavailable)
    await client.end()
  })
})
