import { expect, test } from 'vitest'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
const id = (await person.api.post('/v1/topups/initiate', { amount_minor: '150000', phone_number: '0712345678' })).body.id
await service.settle()

test('a member of the workspace reads it, by session and by key', async () => {
  const key = await createKey(person, { permissions: ['topup.read'] })
  for (const api of [person.api, key.api]) {
    const answer = await api.get(`/v1/topups/${id}`)
    expect([answer.status, answer.body.status]).toEqual([200, 'succeeded'])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  }
})

test('without a credential it is refused', async () => {
  expect((await service.api.get(`/v1/topups/${id}`)).body.error).toBe('authentication_required')
})

test('without the permission it is refused, by its name', async () => {
  const key = await createKey(person, { permissions: ['topup.create'] })
  const answer = await key.api.get(`/v1/topups/${id}`)
  expect([answer.status, answer.body.details.required_permission]).toEqual([403, 'topup.read'])
})

test("another tenant's top-up is the same 404 as one that does not exist; an id of another kind is named as such", async () => {
  const stranger = await signIn(service.api)
  const answers = await Promise.all([
    stranger.api.get(`/v1/topups/${id}`),
    stranger.api.get('/v1/topups/top_01h455vb4pex5vsknk084sn02q'),
    stranger.api.get('/v1/topups/..%2f'),
  ])
  const withoutRequestId = answers.map(({ status, body }) => [status, body.error, body.message])
  expect(new Set(withoutRequestId.map((answer) => JSON.stringify(answer)))).toEqual(
    new Set([JSON.stringify([404, 'not_found', 'There is no such resource in the workspace "Personal".'])]),
  )
  const otherKind = await stranger.api.get(`/v1/topups/${person.accountId}`)
  expect([otherKind.status, otherKind.body.error]).toEqual([404, 'not_found'])
})
