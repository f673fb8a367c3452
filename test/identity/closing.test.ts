import { describe, expect, test } from 'vitest'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { alerts, deliver, initiate, lastOrder, pass, pay, stkCallback, transferCallback } from '../rails-flows/scene.ts'
import { join } from '../workspaces/team.ts'

const administrator = newWallet()
const service = await openService({ env: { ADMIN_ACCOUNTS: administrator.address } })

const close = (person: { api: { delete: (path: string) => Promise<{ status: number; body: Record<string, unknown> }> } }) =>
  person.api.delete('/v1/accounts/me')

test('an account with money, or with money on the way, is not closed and loses nothing', async () => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 100_000n)
  expect(await close(person)).toMatchObject({ status: 409, body: { error: 'conflict', details: { reason: 'balance' } } })
  const beneficiary = await newBeneficiary(person.api)
  await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
  const held = await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '100000' })
  expect(held.body.status).toBe('pending_approval')
  expect((await close(person)).status).toBe(409)
  expect((await person.api.get('/v1/accounts/me')).body.status).toBe('active')
})

test('an empty account is closed by its owner: every credential ends, and what is known of the person is gone', async () => {
  const wallet = newWallet()
  const person = await signIn(service.api, wallet)
  await person.api.patch('/v1/accounts/me', { display_name: 'Amina Otieno' })
  await newBeneficiary(person.api)
  const key = await createKey(person)
  const closed = await close(person)
  expect(closed).toMatchObject({ status: 200, body: { status: 'closed', display_name: null, email: null, identities: [] } })
  expect((await person.api.get('/v1/accounts/me')).status).toBe(401)
  expect((await key.api.get('/v1/credentials/current')).status).toBe(401)

  const [left] = await service.deps.db.query(
    `select (select count(*)::int from identities where account_id = a.id) as identities,
       (select count(*)::int from sessions where account_id = a.id and (ip is not null or user_agent is not null)) as places
     from accounts a where a.display_name is null and a.status = 'closed'`,
  )
  expect(left).toEqual({ identities: 0, places: 0 })
  const sealed = await service.deps.db.query<{ id: string; workspaceId: string; ciphertext: Buffer; keyId: string }>(
    `select b.id, b.workspace_id as "workspaceId", b.destination_ciphertext as ciphertext, b.destination_key_id as "keyId"
     from beneficiaries b join workspaces w on w.id = b.workspace_id join accounts a on a.id = w.owning_account_id where a.status = 'closed'`,
  )
  expect(sealed.map(({ id, workspaceId, ...one }) => service.deps.vault.open(one, ['beneficiary', id, workspaceId]))).toEqual([
    '',
  ])
  expect(await findBreaches(service)).toEqual([])

  const again = await signIn(service.api, wallet)
  expect(again.accountId).not.toBe(person.accountId)
})

test('in a workspace that closed with its owner, members stop a beneficiary, and change nothing else of it', async () => {
  const owner = await signIn(service.api)
  const { id } = (await owner.api.get('/v1/workspaces/current')).body.workspace
  const member = await join(service, { id, owner }, 'admin')
  const beneficiary = `/v1/beneficiaries/${await newBeneficiary(member.api)}`
  expect((await close(owner)).status).toBe(200)
  expect((await member.api.get('/v1/workspaces/current')).body.workspace.status).toBe('closed')
  const change = async (body: object) => {
    const answer = await member.api.patch(beneficiary, body)
    return answer.body.error ?? answer.body.status
  }
  expect(await change({ display_name: 'Other' })).toBe('workspace_frozen')
  expect(await change({ status: 'frozen' })).toBe('frozen')
  expect(await change({ status: 'active' })).toBe('workspace_frozen')
})

test('neither a key nor an administrator closes an account', async () => {
  const person = await signIn(service.api)
  const key = await createKey(person, { permissions: ['account.manage'] })
  expect((await close(key)).status).toBe(403)
  expect(await close(await signIn(service.api, administrator))).toMatchObject({
    status: 409,
    body: { details: { reason: 'self' } },
  })
})

describe('money for an account that was closed meanwhile is in suspense, once, and goes to another account', () => {
  const expectAssigned = async (closed: Person, item: object, amount: string) => {
    await pass(service, 600)
    const admin = await signIn(service.api, administrator)
    const open = (await admin.api.get('/v1/admin/suspense?status=open')).body.data
    expect(open).toMatchObject([{ direction: 'in', reason: 'account_closed', amount_minor: amount, booked: true, ...item }])
    const balance = async (id: string) => (await admin.api.get(`/v1/admin/accounts/${id}`)).body.balance.available_minor
    expect(await balance(closed.accountId)).toBe('0')
    expect(alerts(service)).toEqual(['suspense'])
    const { accountId } = await signIn(service.api)
    const assign = (account_id: string) =>
      admin.api.post(`/v1/admin/suspense/${open[0].id}/assign`, { account_id, note: 'the payer called' })
    expect((await assign(closed.accountId)).status).toBe(409)
    expect((await assign(accountId)).body).toMatchObject({ outcome: 'assigned' })
    expect(await balance(accountId)).toBe(amount)
    await pass(service, 1)
    expect(await findBreaches(service)).toEqual([])
  }

  test('that a prompt asked for', async () => {
    const person = await signIn(service.api)
    service.log.length = 0
    const topup_id = await initiate(person, '254700004999', '10000')
    await service.settle()
    const order = lastOrder(service)
    expect((await close(person)).status).toBe(200)
    for (let time = 0; time < 2; time += 1) await deliver(order.resultUrl, stkCallback(order))
    await service.settle()
    await expectAssigned(person, { topup_id, provider_receipt: order.receipt }, '10000')
  })

  test('that a payment sent, and its rail returns', async () => {
    const person = await signIn(service.api)
    await credit(service, person.accountId, 150_000n)
    const payment_id = await pay(person, { payment_rail: 'PESALINK', destination: '99990000', bank_code: '57' })
    await service.settle()
    service.log.length = 0
    const order = lastOrder(service)
    expect((await close(person)).status).toBe(200)
    for (let time = 0; time < 2; time += 1) await deliver(order.resultUrl, transferCallback(order, { state: 'Returned' }))
    await service.settle()
    await expectAssigned(person, { payment_id, provider_receipt: order.receipt }, '150000')
  })
})
