import { afterAll, beforeAll, expect, test } from 'vitest'
import { letIn, refresh } from '../harness/oauth.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
let person: Person
beforeAll(async () => {
  service = await startService()
  person = await signIn(service.api)
})
afterAll(() => service.close())

test('a client that somebody let in calls the API as far as its scopes go', async () => {
  const agent = await letIn(service.api, person, { ask: { scope: 'account.read payment.create' } })
  expect(agent.tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'account.read payment.create' })
  expect((await agent.api.get('/v1/accounts/me')).body.id).toBe(person.accountId)
  const refused = await agent.api.get('/v1/beneficiaries')
  expect([refused.status, refused.body.error]).toEqual([403, 'forbidden'])
  const again = await refresh(service.api, agent.client, agent.refreshToken)
  expect(again.status).toBe(200)
  expect((await service.api.get('/v1/accounts/me', { bearer: again.body.access_token })).status).toBe(200)
})
