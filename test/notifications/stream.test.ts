import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { StoredEvent } from '../../src/events/read.ts'
import { Stream } from '../../src/events/stream.ts'
import type { Reader } from '../../src/events/visibility.ts'
import { parseId } from '../../src/lib/ids.ts'
import { fund } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'
import { type EventStream, openStream } from '../harness/stream.ts'

const service = await openService({
  env: { STREAM_PING_SECONDS: '1', CORS_ORIGINS: 'https://app.example' },
  fixed: { STREAMS_PER_ACCOUNT: 3 },
})

/** An event for a person's own streams. */
const signInAgain = (person: Person) => signIn(service.api, person.wallet)

test('a stream begins with the reconnection time, and is kept open by pings', async () => {
  const person = await signIn(service.api)
  const stream = await openStream(person.api, { headers: { origin: 'https://app.example' } })
  expect(stream.status).toBe(200)
  expect(await stream.comment()).toBe(': ping')
  expect(await stream.comment()).toBe(': ping')
  expect(stream.text()).toBe('retry: 3000\n\n: ping\n\n: ping\n\n')
  expect(Object.fromEntries(stream.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    'x-request-id': expect.any(String),
    'access-control-allow-origin': 'https://app.example',
    'access-control-allow-credentials': 'true',
  })
  stream.close()
})

test('an event comes with its id, its type and the resource as REST returns it', async () => {
  const person = await signIn(service.api)
  const stream = await openStream(person.api)
  const key = await createKey(person)
  const event = await stream.next('api_key.created')
  expect(event.id).toMatch(/^evt_/)
  expect(event.data).toEqual({
    id: event.id,
    type: 'api_key.created',
    created_at: service.clock.now().toISOString(),
    account_id: person.accountId,
    workspace_id: null,
    data: (await person.api.get(`/v1/accounts/me/api-keys/${key.id}`)).body,
  })
  stream.close()
})

test('no account receives the events of another one', async () => {
  const person = await signIn(service.api)
  const stream = await openStream(person.api)
  await createKey(await signIn(service.api))
  await signInAgain(person)
  await stream.next('session.created')
  expect(stream.seen.map((event) => event.data.account_id)).toEqual([person.accountId])
  stream.close()
})

test('without a credential, or with a wrong one, there is no stream', async () => {
  const stranger = await service.api.get('/v1/notifications/stream')
  expect([stranger.status, stranger.body.error]).toEqual([401, 'authentication_required'])
  const wrong = await service.api.get('/v1/notifications/stream', { bearer: `service_live_${'0'.repeat(64)}` })
  expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_token'])
})

test('an account has a fixed number of streams, also when many are requested at once; one that closes makes room', async () => {
  const person = await signIn(service.api)
  const streams = await Promise.all(Array.from({ length: 6 }, () => openStream(person.api)))
  const open = streams.filter((stream) => stream.status === 200)
  const refused = streams.filter((stream) => stream.status === 429)
  expect([open.length, refused.length]).toEqual([3, 3])
  expect(refused[0]?.headers.get('retry-after')).toBe('5')
  expect((await openStream(await signIn(service.api).then((other) => other.api))).status).toBe(200)
  open[0]?.close()
  await expect.poll(() => openStream(person.api).then((stream) => stream.status)).toBe(200)
  for (const stream of open) stream.close()
})

test('the limit holds over all processes, and the places of a process that died become free after a while', async () => {
  const second = await startService({ database: service.database, clock: service.clock, fixed: { STREAMS_PER_ACCOUNT: 3 } })
  const person = await signIn(service.api)
  const streams = await Promise.all(
    Array.from({ length: 8 }, (_, index) => openStream((index % 2 ? service : second).api.as(person.api.credentials))),
  )
  expect(streams.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429, 429, 429])
  for (const stream of streams) stream.close()
  const place = (age: string) =>
    service.deps.db.query(
      `insert into stream_places (id, account_id, renewed_at) select gen_random_uuid(), $1, clock_timestamp() - $2::interval from generate_series(1, 3)`,
      [parseId('account', person.accountId), age],
    )
  await expect
    .poll(async () => {
      const stream = await openStream(person.api)
      stream.close()
      return stream.status
    })
    .toBe(200)
  // The same with a request after another second.
  await expect
    .poll(async () => {
      await service.deps.db.query('delete from stream_places')
      await place('59 seconds')
      const stream = await openStream(person.api)
      stream.close()
      return stream.status
    })
    .toBe(429)
  await service.deps.db.query('delete from stream_places')
  await place('61 seconds')
  const resumed = await openStream(person.api)
  expect(resumed.status).toBe(200)
  resumed.close()
  await second.close()
})

test('a stream that stays open keeps its place', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const second = await startService({ database: service.database, clock: service.clock })
  const person = await signIn(service.api)
  const stream = await openStream(second.api.as(person.api.credentials))
  const account = parseId('account', person.accountId)
  await service.deps.db.query(
    `update stream_places set renewed_at = clock_timestamp() - interval '59 seconds' where account_id = $1`,
    [account],
  )
  vi.advanceTimersByTime(20_000)
  vi.useRealTimers()
  const young = `select from stream_places where account_id = $1 and renewed_at > clock_timestamp() - interval '30 seconds'`
  await expect.poll(() => service.deps.db.query(young, [account])).toHaveLength(1)
  stream.close()
  await second.close()
})

test('streams that are abandoned while they open occupy no place', async () => {
  const person = await signIn(service.api)
  const { hostname, port } = new URL(service.api.url)
  const giveUp = (afterMs: number) =>
    new Promise<void>((resolve) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => {
        socket.write(
          `GET /v1/notifications/stream HTTP/1.1\r\nHost: ${hostname}\r\nCookie: service_session=${person.cookie}\r\n\r\n`,
        )
        setTimeout(() => socket.destroy(), afterMs)
      })
      socket.once('close', () => resolve())
    })
  await Promise.all(Array.from({ length: 40 }, (_, index) => giveUp(index / 4)))
  const streams: EventStream[] = []
  await expect
    .poll(async () => {
      const stream = await openStream(person.api)
      if (stream.status === 200) streams.push(stream)
      return streams.length
    })
    .toBe(3)
  for (const stream of streams) stream.close()
})

test('a HEAD request does not hang on a stream', async () => {
  const person = await signIn(service.api)
  expect((await person.api.call('HEAD', '/v1/notifications/stream')).status).toBe(405)
})

test('a delegated stream receives the events of its grant and its descendants, and none beyond its permissions', async () => {
  const person = await signIn(service.api)
  const parent = await createKey(person, { permissions: ['account.read', 'key.manage'] })
  const blind = await createKey(person, { permissions: ['payment.read'] })
  const stream = await openStream(parent.api)
  const blindStream = await openStream(blind.api)
  const sibling = await createKey(person)
  const child = await createKey(parent, { permissions: ['account.read'] })
  const grandchild = await createKey(person)
  await fund(service, person, 10_000n)
  await stream.next('balance.updated')
  const grants = stream.seen.filter((event) => event.type === 'api_key.created').map((event) => event.data.data.id)
  expect(grants).toEqual([child.id])
  expect(JSON.stringify(stream.seen)).not.toContain(sibling.id)
  expect(JSON.stringify(stream.seen)).not.toContain(grandchild.id)
  expect(blindStream.seen).toEqual([])
  stream.close()
  blindStream.close()
})

test('a stream that reads the table before the feed has told what changed looks at its credential first', async () => {
  const person = await signIn(service.api)
  const parent = await createKey(person, { permissions: ['account.read', 'key.manage'] })
  const { db, feed } = service.deps
  await feed.settle()
  const place = feed.position()
  const workspace = (await person.api.get('/v1/workspaces/current')).body.workspace.id
  const permissions: Reader['permissions'] = new Set(['account.read', 'key.manage'] as const)
  const readerOf = (...grants: string[]): Reader => ({
    accountId: parseId('account', person.accountId) ?? '',
    permissions,
    workspaces: new Map([[parseId('workspace', workspace) ?? '', permissions]]),
    grants: grants.map((id) => parseId('grant', id) ?? ''),
    isDelegated: true,
    expiresAt: null,
  })
  const reader = readerOf(parent.grantId)
  const child = await createKey(parent, { permissions: ['account.read'] })
  await feed.settle()
  const sent: StoredEvent[] = []
  const both = Promise.withResolvers<void>()
  let looks = 0
  const stream = new Stream(reader, {
    db,
    send: (event) => {
      sent.push(event)
      if (event.type === 'api_key.created') both.resolve()
      return true
    },
    sink: {
      isBlocked: () => false,
      drained: async () => true,
      end: () => both.reject(new Error('the stream ended')),
    },
    // The first check began before the child was created.
    resolveReader: async () => (looks++ === 0 ? reader : readerOf(parent.grantId, child.grantId)),
    hasEnded: () => false,
    onReader: () => undefined,
    from: place,
    replay: false,
    delivered: () => place,
    isPast: () => false,
  })
  stream.recheck(place)
  await both.promise
  expect(sent.map((event) => event.type)).toEqual(['grant.created', 'api_key.created'])
  expect(JSON.stringify(sent)).toContain(child.id)
  expect(looks).toBe(2)
  stream.end()
})

test('the operation is in the document as a stream', async () => {
  const document = (await service.api.get('/openapi.json')).body
  const { responses } = document.paths['/v1/notifications/stream'].get
  expect(Object.keys(responses['200'].content)).toEqual(['text/event-stream'])
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '429']))
})

test("a key is not told of its owner's sessions, which show addresses, unless it manages them", async () => {
  const person = await signIn(service.api)
  const reader = await createKey(person, { permissions: ['account.read'] })
  const manager = await createKey(person, { permissions: ['account.read', 'account.manage'] })
  const streams = await Promise.all([reader, manager].map(({ api }) => openStream(api)))
  await signIn(service.api, person.wallet)
  await streams[1]?.next('session.created')
  // A later event has arrived: the missing one would have come before.
  await fund(service, person, 10_000n)
  await streams[0]?.next('balance.updated')
  const listed = async ({ api }: { api: typeof person.api }) =>
    (await api.get('/v1/notifications?limit=100')).body.data.map(({ type }: { type: string }) => type)
  expect(await listed(reader)).not.toContain('session.created')
  expect(await listed(manager)).toContain('session.created')
  expect(await listed(person)).toContain('session.created')
  expect(streams[0]?.seen.map(({ type }) => type)).not.toContain('session.created')
  for (const stream of streams) stream.close()
})

test('keys of one root have half of the streams, so their owner always finds a place', async () => {
  const person = await signIn(service.api)
  const root = await createKey(person)
  const child = await createKey(root)
  const open = [await openStream(root.api), await openStream(child.api)]
  expect(open.map(({ status }) => status)).toEqual([200, 200])
  const third = await openStream(child.api)
  expect([third.status, third.headers.get('retry-after')]).toEqual([429, '5'])
  const own = await openStream(person.api)
  expect(own.status).toBe(200)
  for (const stream of [...open, own]) stream.close()
})
