import { expect, test } from 'vitest'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { createTeam, join } from '../workspaces/team.ts'

const service = await openService()

const path = '/v1/credentials/current'

test('a person sees their account and workspace, and no limits', async () => {
  const person = await signIn(service.api)
  const { status, body } = await person.api.get(path)
  expect(status).toBe(200)
  expect(body).toMatchObject({ account_id: person.accountId, role: 'owner', is_admin: false, grant: null })
  expect(body.permissions).toContain('workspace.manage')
  expect(body.headroom).toEqual({
    per_payment_minor: null,
    today_minor: null,
    month_minor: null,
    total_minor: null,
    approval_from_minor: null,
  })
  expect(new Date(body.expires_at).getTime()).toBeGreaterThan(service.clock.now().getTime())
})

test('a key sees the tightest remaining limits of its lineage and of the policies for every payment', async () => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  const parent = await createKey(person, {
    permissions: ['key.manage', 'payment.create', 'payment.read'],
    spending_controls: { daily_limit_minor: '500000', monthly_limit_minor: '900000' },
  })
  const child = await createKey(parent, {
    permissions: ['payment.create'],
    spending_controls: { per_payment_limit_minor: '300000' },
  })
  const beneficiary = await newBeneficiary(person.api)
  const other = await newBeneficiary(person.api)
  await person.api.post('/v1/spending-policies', {
    name: 'All',
    per_payment_limit_minor: '250000',
    monthly_limit_minor: '800000',
  })
  await person.api.post('/v1/spending-policies', { name: 'One payee', per_payment_limit_minor: '100', beneficiary_ids: [other] })
  await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '200000' })

  const before = await child.api.get(path)
  expect(before.body.permissions).toEqual(['payment.create'])
  expect(before.body.grant).toMatchObject({ id: child.grantId, parent_grant_id: parent.grantId })
  expect(before.body.headroom).toEqual({
    per_payment_minor: '250000',
    today_minor: '500000',
    month_minor: '800000',
    total_minor: null,
    approval_from_minor: '200000',
  })
  const paid = await child.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '150000' })
  expect(paid.status).toBe(201)
  const after = await child.api.get(path)
  expect(after.body.headroom).toMatchObject({ today_minor: '350000', month_minor: '650000' })
  expect(after.body.grant.usage.today_minor).toBe('150000')
})

test('a policy that always requires approval has the threshold 0, and an archived policy counts for nothing', async () => {
  const person = await signIn(service.api)
  const { body: policy } = await person.api.post('/v1/spending-policies', { name: 'Always', required_approval_count: 1 })
  expect((await person.api.get(path)).body.headroom.approval_from_minor).toBe('0')
  await person.api.delete(`/v1/spending-policies/${policy.id}`)
  expect((await person.api.get(path)).body.headroom.approval_from_minor).toBeNull()
})

test('a removed or suspended member sees nothing of what the workspace spends, by session or key', async () => {
  const team = await createTeam(service)
  const policy = { name: 'All', daily_limit_minor: '500000', approval_threshold_minor: '200000' }
  expect((await team.owner.api.post('/v1/spending-policies', policy)).status).toBe(201)
  const [removed, suspended] = [await join(service, team, 'member'), await join(service, team, 'admin')]
  const key = await createKey(suspended, {
    permissions: ['payment.create'],
    spending_controls: { per_payment_limit_minor: '300000' },
  })
  const limits = { per_payment_minor: null, month_minor: null, total_minor: null }
  for (const { api } of [removed, suspended])
    expect((await api.get(path)).body.headroom).toEqual({ ...limits, today_minor: '500000', approval_from_minor: '200000' })
  const members = '/v1/workspaces/current/members'
  expect((await team.owner.api.delete(`${members}/${removed.memberId}`)).status).toBe(200)
  const suspension = await team.owner.api.patch(`${members}/${suspended.memberId}`, { status: 'suspended' })
  expect(suspension.status).toBe(200)
  const none = { ...limits, today_minor: null, approval_from_minor: null }
  expect((await removed.api.get(path)).body).toMatchObject({ role: null, headroom: none })
  expect((await suspended.api.get(path)).body).toMatchObject({ headroom: none })
  expect((await key.api.get(path)).body.headroom).toEqual({ ...none, per_payment_minor: '300000' })
})

test('every kind of credential may call it, and sees only itself', async () => {
  const person = await signIn(service.api)
  const key = await createKey(person, { permissions: ['payment.create'], expires_at: '2026-03-05T00:00:00Z' })
  const { token } = (await key.api.post('/v1/auth/dashboard-tokens')).body
  const byToken = await service.api.get(path, { bearer: token })
  expect(byToken.body).toMatchObject({
    account_id: person.accountId,
    permissions: ['payment.create'],
    grant: { id: key.grantId },
  })
  expect((await key.api.get(path)).body.expires_at).toBe('2026-03-05T00:00:00.000Z')
  expect((await service.api.get(path)).status).toBe(401)
})

test('a credential that may pay may simulate a payment', async () => {
  const person = await signIn(service.api)
  const beneficiary = await newBeneficiary(person.api)
  await credit(service, person.accountId, 100_000n)
  const payer = await createKey(person, { permissions: ['payment.create'] })
  const input = { beneficiary_id: beneficiary, amount_minor: '10000' }
  expect((await payer.api.post('/v1/spending-policies/simulate', input)).body.outcome).toBe('allow')
  const reader = await createKey(person, { permissions: ['account.read'] })
  expect((await reader.api.post('/v1/spending-policies/simulate', input)).status).toBe(403)
})
