import { afterAll, beforeAll, expect, test } from 'vitest'
import { signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ env: { STREAM_PING_SECONDS: '1' } })
})
afterAll(() => service.close())

test('a stream begins with its headers and the time to wait before coming back', async () => {
  const person = await signIn(service.api)
  const stream = await openStream(person.api)
  expect(stream.status).toBe(200)
  expect(await stream.comment()).toBe(': ping')
  expect(stream.text().startsWith('retry: 3000\n\n')).toBe(true)
  stream.close()
})

test('an event comes as its type, its id and the resource', async () => {
  const person = await signIn(service.api)
  const stream = await openStream(person.api)
  await signIn(service.api, person.wallet)
  const event = await stream.next('session.created')
  expect(event.data).toMatchObject({ id: event.id, type: 'session.created', account_id: person.accountId, workspace_id: null })
  stream.close()
})

test('logging out ends the stream', async () => {
  const person = await signIn(service.api)
  const stream = await openStream(person.api)
  await person.api.post('/v1/auth/logout')
  await stream.ended()
})
