import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
let person: Person
beforeAll(async () => {
  service = await startService()
  person = await signIn(service.api)
})
afterAll(() => service.close())

const create = (body: unknown, api = person.api, key?: string) =>
  api.post('/v1/accounts/me/api-keys', body, key === undefined ? {} : { key })

test('a key is shown once, in its documented form, and works at once', async () => {
  const made = await create({ name: 'Rent agent' })
  expect(made.status).toBe(201)
  expect(made.body.key).toMatch(/^service_live_[0-9a-f]{64}$/)
  expect(made.body).toMatchObject({
    name: 'Rent agent',
    status: 'active',
    last_four: made.body.key.slice(-4),
    expires_at: null,
    revoked_at: null,
  })
  expect(made.body.key.startsWith(made.body.key_prefix)).toBe(true)
  const me = await service.api.get('/v1/accounts/me', { bearer: made.body.key })
  expect([me.status, me.body.id]).toEqual([200, person.accountId])
  const again = await person.api.get(`/v1/accounts/me/api-keys/${made.body.id}`)
  expect(again.text).not.toContain(made.body.key)
  expect(again.body.key).toBeUndefined()
})

test('a key made through a key is the child of its grant, with what its maker has', async () => {
  const parent = await createKey(person, { spending_controls: { daily_limit_minor: '5000' } })
  const child = await createKey(parent, { spending_controls: { per_payment_limit_minor: '100' } })
  const seen = await child.api.get(`/v1/accounts/me/api-keys/${child.id}`)
  expect(seen.body.grant).toMatchObject({
    parent_grant_id: parent.grantId,
    spending_controls: { per_payment_limit_minor: '100' },
  })
  expect(seen.body.grant.headroom).toEqual({ per_payment_minor: '100', today_minor: '5000', month_minor: null })
})
