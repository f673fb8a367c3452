import { expect, test } from 'vitest'
import { createKey, signIn } from '../harness/people.ts'
import { sentDuring } from '../harness/sent.ts'
import { openService } from '../harness/service.ts'

const service = await openService()

type Listed = { id: string; type: string }

test('polling with the last known event lists everything later, oldest first', async () => {
  const person = await signIn(service.api)
  await service.settle()
  const [start] = (await person.api.get('/v1/notifications?limit=1')).body.data as Listed[]
  expect(start?.type).toBe('session.created')
  for (let count = 0; count < 3; count += 1) await createKey(person)
  await service.settle()
  const all: Listed[] = (await person.api.get(`/v1/notifications?after=${start?.id}`)).body.data
  expect(all.map((event) => event.type)).toEqual(Array.from({ length: 3 }, () => ['grant.created', 'api_key.created']).flat())
  const polled: Listed[] = []
  for (let more = true; more; ) {
    const page: Listed[] = (await person.api.get(`/v1/notifications?limit=2&after=${polled.at(-1)?.id ?? start?.id}`)).body.data
    polled.push(...page)
    more = page.length > 0
  }
  expect(polled).toEqual(all)
})

test('a program that is started now and then begins at the oldest event, and waits for the first that it does not have', async () => {
  const person = await signIn(service.api)
  await service.settle()
  const listed = async (query: string) => (await person.api.get(`/v1/notifications?${query}`)).body.data as Listed[]
  const all = (await listed('')).toReversed()
  expect(await listed('after=start')).toEqual(all)
  expect(await listed('after=start&wait_seconds=25')).toEqual(all)
  const first = await person.api.get('/v1/notifications?after=start&limit=1')
  expect(await listed(`after=start&limit=1&cursor=${first.body.next_cursor}`)).toEqual(all.slice(1, 2))
  const waiting = listed(`after=${all.at(-1)?.id}&wait_seconds=25`)
  await createKey(person)
  expect((await waiting)[0]?.type).toBe('grant.created')
  await service.settle()
  const [newest] = await listed('limit=1')
  expect(await listed(`after=${newest?.id}&wait_seconds=1`)).toEqual([])
  for (const wrong of ['wait_seconds=5', 'after=start&wait_seconds=26', 'after=begin'])
    expect((await person.api.get(`/v1/notifications?${wrong}`)).status, wrong).toBe(400)
})

test('a wait ends with its credential', async () => {
  const person = await signIn(service.api)
  const key = await createKey(person)
  await service.settle()
  const [newest] = (await key.api.get('/v1/notifications?limit=1')).body.data as Listed[]
  const waiting = key.api.get(`/v1/notifications?after=${newest?.id}&type=payment.*&wait_seconds=25`)
  await person.api.delete(`/v1/accounts/me/api-keys/${key.id}`)
  expect((await waiting).body.error).toBe('api_key_revoked')
})

test('the cursor continues in the direction of its page', async () => {
  const person = await signIn(service.api)
  for (let count = 0; count < 3; count += 1) await createKey(person)
  await service.settle()
  const newest: Listed[] = (await person.api.get('/v1/notifications')).body.data
  expect(newest).toHaveLength(8)
  const walk = async (query: string): Promise<Listed[]> => {
    const listed: Listed[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await person.api.get(`/v1/notifications?limit=3${query}${cursor && `&cursor=${cursor}`}`)
      listed.push(...body.data)
      cursor = body.next_cursor
    }
    return listed
  }
  expect(await walk('')).toEqual(newest)
  expect(await walk(`&after=${newest.at(-1)?.id}`)).toEqual(newest.slice(0, -1).reverse())
})

test('the list is cut to the time between two instants, in both directions', async () => {
  const person = await signIn(service.api)
  const dates: string[] = []
  for (let count = 0; count < 3; count += 1) {
    service.clock.advance(60)
    dates.push(service.clock.now().toISOString())
    await createKey(person)
  }
  await service.settle()
  const [, middle = '', last = ''] = dates
  const newest: (Listed & { created_at: string })[] = (await person.api.get('/v1/notifications')).body.data
  const listed = async (query: string): Promise<Listed[]> => (await person.api.get(`/v1/notifications?${query}`)).body.data
  const within = newest.filter(({ created_at: at }) => at >= middle && at < last)
  expect(within).toHaveLength(2)
  const moment = (time: string) => new Date(Date.parse(time) - 1).toISOString()
  const between = `created_after=${moment(middle)}&created_before=${last}`
  expect(await listed(between)).toEqual(within)
  expect(await listed(`after=${newest.at(-1)?.id}&${between}`)).toEqual(within.toReversed())
  expect((await person.api.get('/v1/notifications?created_after=yesterday')).status).toBe(400)
})

test('events later than the asked time are not read, however many there are', async () => {
  const person = await signIn(service.api)
  for (let count = 0; count < 15; count += 1) await createKey(person)
  await service.settle()
  const readsOf = async (query: string) => {
    const { statements } = await sentDuring(async () => {
      expect((await person.api.get(`/v1/notifications?after=start&limit=1${query}`)).body.data).toHaveLength(query ? 0 : 1)
    })
    return statements.filter(({ name }) => name?.startsWith('events.later')).length
  }
  expect([await readsOf(''), await readsOf('&created_before=2020-01-01T00:00:00Z')]).toEqual([1, 1])
})

test('the list has the same events as the stream: none of others and none beyond the permissions', async () => {
  const person = await signIn(service.api)
  await createKey(await signIn(service.api))
  const blind = await createKey(person, { permissions: ['payment.read'] })
  await service.settle()
  const mine: { account_id: string }[] = (await person.api.get('/v1/notifications')).body.data
  expect(mine).toHaveLength(4)
  expect(mine.every((event) => event.account_id === person.accountId)).toBe(true)
  expect((await blind.api.get('/v1/notifications')).body).toEqual({ data: [], next_cursor: null })
})

test('polling without a credential is 401, and a malformed id is named', async () => {
  expect((await service.api.get('/v1/notifications')).status).toBe(401)
  const person = await signIn(service.api)
  const answer = await person.api.get('/v1/notifications?after=evt_nonsense')
  expect([answer.status, answer.body.error, answer.body.details.fields[0].path]).toEqual([400, 'invalid_request', 'after'])
})

test('a list and a stream of certain types have those alone, in the same order', async () => {
  const { api } = await signIn(service.api)
  for (const name of ['Filtered', 'Again']) await api.patch('/v1/workspaces/current', { name })
  await service.settle()
  const all = (await api.get('/v1/notifications?limit=100')).body.data
  const named = (types: string) => all.filter(({ type }: { type: string }) => new RegExp(`^(${types})$`).test(type))
  expect((await api.get('/v1/notifications?limit=100&type=workspace.*')).body.data).toEqual(named('workspace\\..*'))
  expect((await api.get('/v1/notifications?limit=100&type=workspace.updated,session.created')).body.data).toEqual(
    named('workspace\\.updated|session\\.created'),
  )
  expect((await api.get('/v1/notifications?limit=1&type=workspace.updated')).body.data).toEqual(
    named('workspace\\.updated').slice(0, 1),
  )
  for (const type of ['workspace', '*', 'payment.paid', ''])
    expect((await api.get(`/v1/notifications?type=${type}`)).status, type).toBe(400)
})

test('a type that did not happen is looked for once, however many events of the same resource there are', async () => {
  const person = await signIn(service.api)
  for (let count = 0; count < 6; count += 1) await createKey(person)
  await service.settle()
  const { statements } = await sentDuring(async () => {
    const rotated = await person.api.get('/v1/notifications?limit=1&type=api_key.rotated')
    expect([rotated.status, rotated.body.data]).toEqual([200, []])
    const created = await person.api.get('/v1/notifications?limit=1&type=api_key.created')
    expect([created.body.data.length, created.body.data[0].type]).toEqual([1, 'api_key.created'])
    expect((await person.api.get('/v1/notifications?type=payment.succeeded')).body.data).toEqual([])
  })
  // The feed queries the edge on a timer of its own.
  const asked = statements.flatMap(({ name }) => (name?.startsWith('events.') && name !== 'events.edge' ? name : []))
  expect(asked).toEqual(['events.earlier_of_rare_types', 'events.earlier_of_rare_types', 'events.earlier_of_types'])
})
