import { connect } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { formatId, newId, parseId } from '../../src/lib/ids.ts'
import { openDatabase } from '../../src/process/database.ts'
import { createKey, signIn } from '../harness/people.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { openService, startService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { beginWriter } from './events.ts'

const service = await openService({ env: { STREAM_PING_SECONDS: '1' }, fixed: { STREAMS_PER_ACCOUNT: 1 } })

const day = 86_400

test('events that were missed while the service was down are sent by the next process', async () => {
  const person = await signIn(service.api)
  const other = await startService({ database: service.database, clock: service.clock })
  const stream = await openStream(other.api.as({ cookie: person.cookie }))
  await createKey(person)
  const last = await stream.next('api_key.created')
  await other.close()
  await stream.ended()
  const missed = await createKey(person)
  const next = await startService({ database: service.database, clock: service.clock })
  const resumed = await openStream(next.api.as({ cookie: person.cookie }), { lastEventId: last.id })
  expect((await resumed.next('api_key.created')).data.data.id).toBe(missed.id)
  const live = await createKey(person)
  expect((await resumed.next('api_key.created')).data.data.id).toBe(live.id)
  expect(resumed.seen.map((event) => event.type)).toEqual([
    'grant.created',
    'api_key.created',
    'grant.created',
    'api_key.created',
  ])
  resumed.close()
  await next.close()
})

test('a client that cannot set headers resumes by the query parameter; the header, which is newer, wins', async () => {
  const person = await signIn(service.api)
  const stream = await openStream(person.api)
  await createKey(person)
  const grant = await stream.next('grant.created')
  const key = await stream.next('api_key.created')
  stream.close()
  const path = `/v1/notifications/stream?last_event_id=${grant.id}`
  const byQuery = await reopen(person.api, { path })
  expect((await byQuery.next()).id).toBe(key.id)
  byQuery.close()
  const byHeader = await reopen(person.api, { path, lastEventId: key.id })
  await createKey(person)
  expect((await byHeader.next()).type).toBe('grant.created')
  expect(byHeader.seen.map((event) => event.id)).not.toContain(key.id)
  byHeader.close()
})

test('an id that is malformed is a 400 that names it; an empty one is none', async () => {
  const person = await signIn(service.api)
  const path = '/v1/notifications/stream'
  for (const [param, asked, headers] of [
    ['Last-Event-ID', path, { 'last-event-id': 'evt_x' }],
    ['Last-Event-ID', path, { 'last-event-id': person.accountId }],
    ['last_event_id', `${path}?last_event_id=evt_x`, {}],
  ] as const) {
    const { status, body } = await person.api.get(asked, { headers })
    expect([status, body.error, body.details.param]).toEqual([400, 'invalid_request', param])
  }
  const stream = await openStream(person.api, { path: `${path}?last_event_id=`, lastEventId: '' })
  await createKey(person)
  expect((await stream.next()).type).toBe('grant.created')
  stream.close()
})

test('an id that is unknown resets the stream, which then continues live', async () => {
  const person = await signIn(service.api)
  const stream = await openStream(person.api, { lastEventId: 'evt_01h455vb4pex5vsknk084sn02q' })
  const reset = await stream.next()
  expect(reset).toMatchObject({ id: '', type: 'stream.reset', data: { type: 'stream.reset', account_id: person.accountId } })
  await createKey(person)
  expect((await stream.next()).type).toBe('grant.created')
  stream.close()
})

test("another tenant's event id is answered like an unknown one, and reveals nothing", async () => {
  const victim = await signIn(service.api)
  const theirs = await openStream(victim.api)
  await createKey(victim)
  const foreign = await theirs.next('grant.created')
  await theirs.next('api_key.created')
  theirs.close()
  const person = await signIn(service.api)
  const unknown = await openStream(person.api, { lastEventId: 'evt_01h455vb4pex5vsknk084sn02q' })
  await unknown.next('stream.reset')
  unknown.close()
  const stream = await reopen(person.api, { lastEventId: foreign.id })
  await stream.next('stream.reset')
  await createKey(person)
  await stream.next('api_key.created')
  expect(stream.text().split('id: evt_')[0]).toBe(unknown.text())
  expect(stream.seen.slice(1).every((event) => event.data.account_id === person.accountId)).toBe(true)
  expect(stream.text()).not.toContain(victim.accountId)
  stream.close()
  const listed = await person.api.get(`/v1/notifications?after=${foreign.id}`)
  const never = await person.api.get('/v1/notifications?after=evt_01h455vb4pex5vsknk084sn02q')
  expect([listed.status, listed.body.error, listed.body.message]).toEqual([400, 'invalid_cursor', never.body.message])
})

test('an id older than the retention resets the stream, also while its row still exists', async () => {
  const person = await signIn(service.api)
  const stream = await openStream(person.api)
  await createKey(person)
  const old = await stream.next('api_key.created')
  stream.close()
  service.clock.advance(7 * day + 1)
  const later = await signIn(service.api, person.wallet)
  const before = await reopen(later.api, { lastEventId: old.id })
  expect((await before.next()).type).toBe('stream.reset')
  before.close()
  await service.deps.jobs.sweep()
  const after = await reopen(later.api, { lastEventId: old.id })
  expect((await after.next()).type).toBe('stream.reset')
  after.close()
  await service.settle()
  const types = (await later.api.get('/v1/notifications')).body.data.map((event: { type: string }) => event.type)
  expect(types).toEqual(['session.created'])
})

test('after a restore into a server whose transaction ids are behind, a stream resumes from an event of before', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const before = await startService({ database })
  const person = await signIn(before.api)
  await createKey(person)
  const last = newId()
  await before.deps.db.query(
    `insert into events (id, transaction, type, account_id, workspace_id, data, created_at)
     select $1, (pg_current_xact_id()::text::bigint + 60000)::text::xid8, type, account_id, workspace_id, data, created_at
     from events where account_id = $2 and type = 'api_key.created'`,
    [last, parseId('account', person.accountId)],
  )
  await before.close()

  // A process does this before it starts its service.
  await openDatabase(loadConfig({ NODE_ENV: 'test', DATABASE_URL: database.url }), pino({ level: 'silent' }))
  const after = await startService({ database, clock: before.clock })
  onTestFinished(() => after.close())
  const returned = { ...person, api: after.api.as({ cookie: person.cookie }) }
  const stream = await openStream(returned.api, { lastEventId: formatId('event', last) })
  onTestFinished(() => stream.close())
  const key = await createKey(returned)
  expect((await stream.next('api_key.created')).data.data.id).toBe(key.id)
  expect(stream.seen.map((event) => event.type)).toEqual(['grant.created', 'api_key.created'])
})

test('a reader that takes nothing is disconnected, and gets the rest when it reconnects', async () => {
  const person = await signIn(service.api)
  const { hostname, port } = new URL(service.api.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(`GET /v1/notifications/stream HTTP/1.1\r\nHost: ${hostname}\r\nCookie: service_session=${person.cookie}\r\n\r\n`)
  let text = ''
  const begun = Promise.withResolvers<void>()
  socket.on('data', (chunk) => {
    text += chunk
    if (!text.includes('retry: 3000')) return
    socket.pause()
    begun.resolve()
  })
  await begun.promise

  const writer = await beginWriter(service, person.accountId)
  const written = await writer.write(2_000, 10_000)
  await writer.commit()
  // One stream per account: the next one has room once the stalled one is dropped.
  await expect.poll(() => openStream(person.api).then(leaveAtOnce)).toBe(200)

  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  socket.removeAllListeners('data')
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.resume()
  await closed
  const received = [...text.matchAll(/^id: (evt_\S+)\nevent: \S+\ndata: .*\n\n/gm)].map((match) => match[1] ?? '')
  expect(received.length).toBeGreaterThan(0)
  expect(received.length).toBeLessThan(written.length)
  const rest = await reopen(person.api, { lastEventId: received.at(-1) ?? '' })
  while (received.length < written.length) received.push((await rest.next()).id)
  expect(received).toEqual(written)
  rest.close()
})

const leaveAtOnce = (stream: Awaited<ReturnType<typeof openStream>>) => {
  stream.close()
  return stream.status
}

/** The account's only stream is free again once the service has noticed the last one's end. */
const reopen = async (...[client, options]: Parameters<typeof openStream>) => {
  for (;;) {
    const stream = await openStream(client, options)
    if (stream.status !== 429) return stream
  }
}
