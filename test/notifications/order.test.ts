import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { beginWriter } from './events.ts'

const first = await openService()
const second = await openService({ database: first.database, clock: first.clock })

const listed = async (person: Person, query = ''): Promise<string[]> =>
  (await person.api.get(`/v1/notifications${query}`)).body.data.map((event: { id: string }) => event.id)

test('an event of a slower transaction comes before those that committed earlier, and none is skipped', async () => {
  const person = await signIn(first.api)
  const stream = await openStream(person.api)
  const slow = await beginWriter(first, person.accountId)
  const [early] = await slow.write()
  await createKey(person)
  await createKey(person)
  expect(await listed(person)).not.toContain(early)
  expect((await person.api.get('/v1/notifications')).body.data.map((event: { type: string }) => event.type)).not.toContain(
    'api_key.created',
  )
  await slow.commit()
  const types = [await stream.next(), await stream.next(), await stream.next(), await stream.next(), await stream.next()]
  expect(types.map((event) => event.type)).toEqual([
    'balance.updated',
    'grant.created',
    'api_key.created',
    'grant.created',
    'api_key.created',
  ])
  expect(types[0]?.id).toBe(early)
  stream.close()
})

test('a transaction that is rolled back delays nothing and is never published', async () => {
  const person = await signIn(first.api)
  const stream = await openStream(person.api)
  const failing = await beginWriter(first, person.accountId)
  const [never] = await failing.write()
  await createKey(person)
  await failing.rollback()
  await stream.next('api_key.created')
  expect(stream.seen.map((event) => event.id)).not.toContain(never)
  stream.close()
})

test('a transaction of another database on the same server delays nothing', async () => {
  const neighbour = new pg.Client({ connectionString: inject('testServer').adminUrl })
  await neighbour.connect()
  await neighbour.query('begin')
  await neighbour.query('select pg_current_xact_id()')
  const person = await signIn(first.api)
  const stream = await openStream(person.api)
  await createKey(person)
  await stream.next('api_key.created')
  await neighbour.query('rollback')
  await neighbour.end()
  stream.close()
})

test('a stream at one process receives what another process did', async () => {
  const person = await signIn(first.api)
  const stream = await openStream(person.api)
  await createKey({ api: second.api.as({ cookie: person.cookie }) })
  await stream.next('api_key.created')
  stream.close()
})

test('logging out at one process ends the streams at another', async () => {
  const person = await signIn(first.api)
  const stream = await openStream(second.api.as({ cookie: person.cookie }))
  await person.api.post('/v1/auth/logout')
  await stream.ended()
})

test('a reader that reconnects while two processes write gets every event once and in the order of the list', async () => {
  const person = await signIn(first.api)
  const elsewhere = { api: second.api.as({ cookie: person.cookie }) }
  const begin = await openStream(person.api)
  await createKey(person)
  const start = await begin.next('api_key.created')
  begin.close()

  const writing = Promise.all(
    [person, elsewhere].flatMap((writer) => Array.from({ length: 3 }, () => eachAfterAnother(15, () => createKey(writer)))),
  )
  const expected = 2 * 90
  const seen: string[] = []
  for (let turn = 0; seen.length < expected; turn += 1) {
    const stream = await openStream([person, elsewhere][turn % 2]?.api ?? person.api, { lastEventId: seen.at(-1) ?? start.id })
    for (let count = 0; count < 17 && seen.length < expected; count += 1) seen.push((await stream.next()).id)
    stream.close()
  }
  await writing
  await first.settle()
  expect(new Set(seen).size).toBe(expected)
  const pages = [
    ...(await listed(person, `?after=${start.id}&limit=100`)),
    ...(await listed(person, `?after=${seen[99]}&limit=100`)),
  ]
  expect(seen).toEqual(pages)
})

const eachAfterAnother = async (times: number, act: () => Promise<unknown>) => {
  for (let count = 0; count < times; count += 1) await act()
}
