import { expect, test } from 'vitest'
import type { Client, Json } from '../../harness/client.ts'
import { mandateTerms, sendMandate, signedMandate } from '../../harness/mandates.ts'
import { credit, newBeneficiary } from '../../harness/money.ts'
import { authorizeAgent } from '../../harness/oauth.ts'
import { createKey, type Key, newWallet, signIn, walletMessage } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
await credit(service, person.accountId, 10_000_000n)
const beneficiary = await newBeneficiary(person.api)

const pay = (api: Client, amount: string, to = beneficiary) =>
  api.post('/v1/payments', { beneficiary_id: to, amount_minor: amount })
const grantOf = async (key: Pick<Key, 'grantId'>): Promise<Json> =>
  (await person.api.get(`/v1/accounts/me/grants/${key.grantId}`)).body

test("a key's payment counts against every ancestor, and each shows the least that remains in the chain", async () => {
  const root = await createKey(person, { spending_controls: { daily_limit_minor: '50000', monthly_limit_minor: '90000' } })
  const child = await createKey(root, { spending_controls: { daily_limit_minor: '30000', per_payment_limit_minor: '20000' } })
  expect((await pay(child.api, '20000')).status).toBe(201)
  expect((await pay(root.api, '10000')).status).toBe(201)
  expect(await grantOf(root)).toMatchObject({
    usage: { today_minor: '30000', month_minor: '30000' },
    headroom: { per_payment_minor: null, today_minor: '20000', month_minor: '60000' },
  })
  expect(await grantOf(child)).toMatchObject({
    usage: { today_minor: '20000', month_minor: '20000' },
    headroom: { per_payment_minor: '20000', today_minor: '10000', month_minor: '60000' },
  })
  expect((await pay(child.api, '10100')).body.error).toBe('policy_denied')
  expect((await pay(child.api, '10000')).status).toBe(201)
})

test('a payment that fails is subtracted from the usage of the whole chain', async () => {
  const doomed = await newBeneficiary(person.api, { destination: '254700000001' })
  const root = await createKey(person, { spending_controls: { daily_limit_minor: '50000' } })
  const child = await createKey(root)
  expect((await pay(child.api, '50000', doomed)).status).toBe(201)
  expect((await grantOf(root)).headroom.today_minor).toBe('0')
  await service.settle()
  for (const key of [root, child])
    expect(await grantOf(key)).toMatchObject({
      usage: { today_minor: '0', month_minor: '0' },
      headroom: { today_minor: '50000' },
    })
})

test('a frozen grant and its descendants move no money, and can again when unfrozen', async () => {
  const root = await createKey(person)
  const child = await createKey(root)
  await person.api.patch(`/v1/accounts/me/grants/${root.grantId}`, { frozen: true })
  for (const { api } of [root, child]) {
    const refused = await pay(api, '1000')
    expect([refused.status, refused.body.error]).toEqual([403, 'grant_frozen'])
    expect((await api.get('/v1/payments')).status).toBe(200)
  }
  await person.api.patch(`/v1/accounts/me/grants/${root.grantId}`, { frozen: false })
  expect((await pay(child.api, '1000')).status).toBe(201)
})

test('nothing that comes from a frozen grant moves money: no session of a wallet that it linked, and no key made there', async () => {
  const key = await createKey(person, { permissions: ['account.read', 'account.manage'] })
  const link = async (api: Client) => {
    const wallet = newWallet()
    const message = await walletMessage(api, wallet)
    const signature = await wallet.signMessage({ message })
    const linked = await api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature })
    return { wallet, linked }
  }
  const session = await signIn(service.api, (await link(key.api)).wallet)
  const derived = await createKey(session)
  const token = service.api.as({ bearer: (await session.api.post('/v1/auth/dashboard-tokens')).body.token })
  const order = { beneficiary_id: beneficiary, amount_minor: '1000' }
  const topup = { amount_minor: '10000', phone_number: '254712345678' }
  const later = { ...order, execute_at: new Date(service.clock.now().getTime() + 60_000).toISOString() }
  const scheduled = [session, derived].map(({ api }) => api.post('/v1/payments', later))
  const ids = (await Promise.all(scheduled)).map(({ body }) => body.id)
  const { execute_at, ...item } = later
  const list = (await session.api.post('/v1/payment-batches', { items: [item, item], execute_at, duplicates_intended: true }))
    .body.id
  const freeze = (frozen: boolean) => person.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen })
  await freeze(true)
  const child = await createKey(derived)
  const since = await createKey(session)
  for (const { api } of [session, derived, { api: token }, child, since]) {
    const refused = [await pay(api, '1000'), await api.post('/v1/topups/initiate', topup)]
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual(Array(2).fill([403, 'grant_frozen']))
    expect((await api.post('/v1/spending-policies/simulate', order)).body.outcome).toBe('deny')
  }
  expect((await link(session.api)).linked.body.error).toBe('grant_frozen')
  const signed = await signedMandate(service.api, session.wallet, mandateTerms(service, {}))
  expect((await sendMandate(service.api, signed)).body.error).toBe('grant_frozen')
  service.clock.advance(60)
  await service.deps.jobs.sweep()
  for (const id of ids)
    expect((await person.api.get(`/v1/payments/${id}`)).body).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
  expect((await person.api.get(`/v1/payment-batches/${list}`)).body).toMatchObject({ status: 'failed', counts: { failed: 2 } })
  expect((await pay(person.api, '1000')).status).toBe(201)
  await freeze(false)
  for (const { api } of [session, derived, child]) expect((await pay(api, '1000')).status).toBe(201)
})

test('new controls apply from the next payment on', async () => {
  const key = await createKey(person)
  expect((await pay(key.api, '2000')).status).toBe(201)
  await person.api.patch(`/v1/accounts/me/api-keys/${key.id}`, { spending_controls: { per_payment_limit_minor: '1999' } })
  expect((await pay(key.api, '2000')).body.error).toBe('policy_denied')
  await person.api.patch(`/v1/accounts/me/api-keys/${key.id}`, { spending_controls: { per_payment_limit_minor: null } })
  expect((await pay(key.api, '2000')).status).toBe(201)
})

test('all keys end at once, those that agents created too, and the agents stay', async () => {
  const agent = await authorizeAgent(service.api, person, { request: { scope: 'account.read key.manage' } })
  const [own, ofAgent] = [await createKey(person), await createKey(agent)]
  const below = await createKey(own)
  const ended = await person.api.post('/v1/accounts/me/grants/revoke-all', { kind: 'api_key' })
  expect([ended.status, ended.body.data.map(({ id }: Json) => id)]).toEqual([
    200,
    expect.arrayContaining([own.grantId, ofAgent.grantId, below.grantId]),
  ])
  for (const { api } of [own, ofAgent, below]) expect((await api.get('/v1/accounts/me')).body.error).toBe('api_key_revoked')
  expect((await agent.api.get('/v1/accounts/me')).status).toBe(200)
})

test('a key that an agent creates with its token is a child of the agent’s grant: it shares its limits, its end and its revocation', async () => {
  const agent = await authorizeAgent(service.api, person, {
    request: { scope: 'account.read key.manage payment.create' },
    decision: { spending_controls: { per_payment_limit_minor: '5000' } },
  })
  const key = await createKey(agent, { spending_controls: { per_payment_limit_minor: '900000' } })
  const view = (await person.api.get(`/v1/accounts/me/api-keys/${key.id}`)).body
  const above = await grantOf({ grantId: view.grant.parent_grant_id })
  expect([above.kind, view.permissions, view.expires_at]).toEqual([
    'oauth',
    ['account.read', 'key.manage', 'payment.create'],
    above.expires_at,
  ])
  expect(view.grant.headroom.per_payment_minor).toBe('5000')
  expect((await pay(key.api, '5100')).body.error).toBe('policy_denied')
  expect((await pay(key.api, '5000')).status).toBe(201)
  expect((await agent.api.get('/v1/accounts/me/api-keys')).body.data.map((entry: Json) => entry.id)).toEqual([key.id])
  await person.api.delete(`/v1/accounts/me/grants/${above.id}`)
  expect((await pay(key.api, '5000')).body.error).toBe('api_key_revoked')
  expect((await agent.api.get('/v1/accounts/me')).status).toBe(401)
})
