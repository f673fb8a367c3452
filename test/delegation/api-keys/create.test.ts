import { describe, expect, test } from 'vitest'
import { parseId } from '../../../src/lib/ids.ts'
import { createKey, type Key, signIn } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
const stranger = await signIn(service.api)

const create = (body: unknown, api = person.api, key?: string) =>
  api.post('/v1/accounts/me/api-keys', body, key === undefined ? {} : { key })
const fieldsOf = (answer: { body: { details: { fields: { path: string }[] } } }) =>
  answer.body.details.fields.map(({ path }) => path)
const later = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000).toISOString()

const readAndPay = [
  'account.read',
  'key.manage',
  'workspace.read',
  'beneficiary.read',
  'beneficiary.manage',
  'policy.read',
  'policy.create',
  'payment.read',
  'payment.create',
  'approval.read',
  'mandate.read',
  'topup.read',
  'topup.create',
]

describe('a new key', () => {
  test('is shown once, in its documented form, and works at once', async () => {
    const made = await create({ name: 'Rent agent' })
    expect(made.status).toBe(201)
    expect(made.headers.get('cache-control')).toBe('no-store')
    expect(made.body.key).toMatch(/^service_live_[0-9a-f]{64}$/)
    expect(made.body).toMatchObject({
      name: 'Rent agent',
      status: 'active',
      last_four: made.body.key.slice(-4),
      last_used_at: null,
    })
    expect(made.body).toMatchObject({
      expires_at: null,
      revoked_at: null,
      grant: { kind: 'api_key', label: 'Rent agent', parent_grant_id: null },
    })
    expect(made.body.key.startsWith(made.body.key_prefix)).toBe(true)
    const me = await service.api.get('/v1/accounts/me', { bearer: made.body.key })
    expect([me.status, me.body.id]).toEqual([200, person.accountId])
    const again = await person.api.get(`/v1/accounts/me/api-keys/${made.body.id}`)
    expect(again.text).not.toContain(made.body.key)
    expect(again.body.last_used_at).not.toBeNull()
  })

  test('is in no row, log line, event or replayed answer: only its salted hash is kept', async () => {
    const first = await create({ name: 'Canary' }, person.api, 'canary')
    const again = await create({ name: 'Canary' }, person.api, 'canary')
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const { key, ...rest } = first.body
    expect(again.body).toEqual(rest)
    await service.api.get('/v1/accounts/me', { bearer: key })
    const secret = key.slice('service_live_'.length + 12)
    expect(service.log.join('\n')).not.toContain(secret)
    for (const table of ['api_keys', 'grants', 'events', 'audit_log', 'idempotency_keys']) {
      const rows = await service.deps.db.query<{ text: string }>(`select t::text as text from ${table} t`)
      expect(rows.length).toBeGreaterThan(0)
      expect(rows.map((row) => row.text).join('\n')).not.toContain(secret)
    }
  })

  test('under one idempotency key is one key, even when ten ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ name: 'Once' }, person.api, 'ten-at-once')))
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
    expect(answers.filter((answer) => answer.body.key !== undefined)).toHaveLength(1)
    const other = await create({ name: 'Other' }, person.api, 'ten-at-once')
    expect([other.status, other.body.error, other.body.details.reason]).toEqual([409, 'conflict', 'idempotency'])
  })

  test('is published as an event and kept in the audit log, with its grant', async () => {
    const { id, grantId } = await createKey(person, { name: 'Told' })
    const events = await service.deps.db.query<{ type: string; data: { id: string } }>(
      "select type, data from events where account_id = (select account_id from events where data->>'id' = $1 limit 1) and data->>'id' in ($1, $2) order by type",
      [id, grantId],
    )
    expect(events.map(({ type, data }) => [type, data.id])).toEqual([
      ['api_key.created', id],
      ['grant.created', grantId],
    ])
    const view = await person.api.get(`/v1/accounts/me/api-keys/${id}`)
    expect(events[0]?.data).toEqual(view.body)
  })
})

describe('its permissions', () => {
  test('are, without a list, those of the creator except those that only a person should have', async () => {
    const made = await create({ name: 'Default' })
    expect(made.body.permissions).toEqual(readAndPay)
  })

  test("may be any of a person's permissions if the person names them", async () => {
    const requested = ['account.manage', 'grant.manage', 'workspace.manage', 'policy.manage', 'approval.decide', 'mandate.manage']
    const made = await create({ name: 'Trusted', permissions: requested })
    expect([made.status, made.body.permissions]).toEqual([201, requested])
  })

  test('never include, through a key, what only a person can pass on', async () => {
    const trusted = await createKey(person, { permissions: ['key.manage', 'approval.decide'] })
    const refused = await create({ name: 'Child', permissions: ['approval.decide'] }, trusted.api)
    expect([refused.status, refused.body.error]).toEqual([403, 'forbidden'])
    const child = await create({ name: 'Child' }, trusted.api)
    expect(child.body.permissions).toEqual(['key.manage'])
  })

  test('are never more than the maker of the key has', async () => {
    const reader = await createKey(person, { permissions: ['key.manage', 'payment.read'] })
    const refused = await create({ name: 'Child', permissions: ['payment.read', 'payment.create'] }, reader.api)
    expect([refused.status, refused.body.error, refused.body.details.required_permission]).toEqual([
      403,
      'forbidden',
      'payment.create',
    ])
  })

  test.each([[['payment.destroy']], [[]], ['payment.read']])('%j is no list of permissions', async (permissions) => {
    expect((await create({ name: 'Odd', permissions })).status).toBe(400)
  })
})

describe('a key made through a key', () => {
  test('is its child, below all of its limits', async () => {
    const root = await createKey(person, { spending_controls: { daily_limit_minor: '5000', per_payment_limit_minor: '200' } })
    const middle = await createKey(root, { spending_controls: { monthly_limit_minor: '9000' } })
    const leaf = await createKey(middle, { spending_controls: { per_payment_limit_minor: '900', daily_limit_minor: '1000' } })
    const seen = await leaf.api.get(`/v1/accounts/me/api-keys/${leaf.id}`)
    expect(seen.body.grant).toMatchObject({
      parent_grant_id: middle.grantId,
      spending_controls: { per_payment_limit_minor: '900', daily_limit_minor: '1000' },
      headroom: { per_payment_minor: '200', today_minor: '1000', month_minor: '9000' },
    })
  })

  test('ends no later than the one it was made through', async () => {
    const parent = await createKey(person, { expires_at: later(3600) })
    const inherits = await create({ name: 'Child' }, parent.api)
    expect([inherits.body.expires_at, inherits.body.grant.expires_at]).toEqual([later(3600), later(3600)])
    const earlier = await create({ name: 'Child', expires_at: later(60) }, parent.api)
    expect([earlier.status, earlier.body.expires_at]).toEqual([201, later(60)])
    const tooLate = await create({ name: 'Child', expires_at: later(3601) }, parent.api)
    expect([tooLate.status, fieldsOf(tooLate)]).toEqual([400, ['expires_at']])
  })

  test('through a dashboard token of a key is the child of the same grant', async () => {
    const parent = await createKey(person)
    const { token } = (await parent.api.post('/v1/auth/dashboard-tokens')).body
    const child = await create({ name: 'Child' }, service.api.as({ bearer: token }))
    expect(child.body.grant.parent_grant_id).toBe(parent.grantId)
  })
})

describe('is refused', () => {
  const limits = (spending_controls: unknown) => ({ name: 'Agent', spending_controls })
  test.each([
    [{ per_payment_limit_minor: '200', daily_limit_minor: '100' }, 'spending_controls.per_payment_limit_minor'],
    [{ daily_limit_minor: '200', monthly_limit_minor: '100' }, 'spending_controls.daily_limit_minor'],
    [{ per_payment_limit_minor: '200', monthly_limit_minor: '100' }, 'spending_controls.per_payment_limit_minor'],
    [{ payment_types: [] }, 'spending_controls.payment_types'],
    [{ payment_types: ['x'.repeat(65)] }, 'spending_controls.payment_types.0'],
    [{ beneficiary_ids: [] }, 'spending_controls.beneficiary_ids'],
    [{ beneficiary_ids: ['pay_01h455vb4pex5vsknk084sn02q'] }, 'spending_controls.beneficiary_ids.0'],
    [{ daily_limit_minor: '1e3' }, 'spending_controls.daily_limit_minor'],
    [{ daily_limit_minor: '-1' }, 'spending_controls.daily_limit_minor'],
    [{ daily_limit_minor: '01' }, 'spending_controls.daily_limit_minor'],
    [{ daily_limit_minor: 100 }, 'spending_controls.daily_limit_minor'],
    [{ daily_limit: '100' }, 'spending_controls.daily_limit'],
  ])('with the spending controls %j', async (controls, path) => {
    const answer = await create(limits(controls))
    expect([answer.status, answer.body.error, fieldsOf(answer)]).toEqual([400, 'invalid_request', [path]])
  })

  test("with another tenant's beneficiary, like one that does not exist", async () => {
    const payee = { type: 'supplier', display_name: 'Jane', payment_rail: 'MPESA_B2C', destination: '0712345678' }
    const own = (await person.api.post('/v1/beneficiaries', payee)).body.id
    const foreign = (await stranger.api.post('/v1/beneficiaries', payee)).body.id
    expect((await create(limits({ beneficiary_ids: [own, own] }))).body.grant.spending_controls).toEqual({
      beneficiary_ids: [own],
    })
    for (const unknown of [foreign, 'ben_01h455vb4pex5vsknk084sn02q']) {
      const refused = await create(limits({ beneficiary_ids: [own, unknown] }))
      expect([refused.status, refused.body.details.field]).toEqual([404, 'spending_controls.beneficiary_ids'])
    }
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(121) }, 'name'],
    [{}, 'name'],
    [{ name: 'Past', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ name: 'Odd', expires_at: 'tomorrow' }, 'expires_at'],
    [{ name: 'Odd', account_id: 'acc_1' }, 'account_id'],
    [{ name: 'Odd', grant: {} }, 'grant'],
  ])('with the body %j', async (body, path) => {
    const answer = await create(body)
    expect([answer.status, fieldsOf(answer)]).toEqual([400, [path]])
  })

  test('while the capability is switched off, which stops existing keys too', async () => {
    const owner = await signIn(service.api)
    const key = await createKey(owner)
    await service.deps.db.query(
      'update accounts set api_keys_enabled = false where id = (select account_id from identities where subject = $1)',
      [owner.wallet.address],
    )
    const refused = await create({ name: 'Late' }, owner.api)
    expect([refused.status, refused.body.error]).toEqual([403, 'capability_disabled'])
    const rotated = await owner.api.post(`/v1/accounts/me/api-keys/${key.id}/rotate`)
    expect([rotated.status, rotated.body.error]).toEqual([403, 'capability_disabled'])
    const stopped = await key.api.get('/v1/accounts/me')
    expect([stopped.status, stopped.body.error]).toEqual([403, 'capability_disabled'])
  })

  test('without a credential, with one that lacks the permission, and in a frozen workspace', async () => {
    expect((await create({ name: 'Nobody' }, service.api)).status).toBe(401)
    const reader = await createKey(person, { permissions: ['payment.read'] })
    const refused = await create({ name: 'Child' }, reader.api)
    expect([refused.status, refused.body.error, refused.body.details.required_permission]).toEqual([
      403,
      'forbidden',
      'key.manage',
    ])
    const owner = await signIn(service.api)
    await service.deps.db.query(
      'update workspaces set frozen_at = now() where owning_account_id = (select account_id from identities where subject = $1)',
      [owner.wallet.address],
    )
    const frozen = await create({ name: 'Late' }, owner.api)
    expect([frozen.status, frozen.body.error]).toEqual([403, 'workspace_frozen'])
  })
})

test('a key is bound to its workspace, and cannot name another', async () => {
  const key = await createKey(person)
  const { workspace } = (await key.api.get('/v1/workspaces/current')).body
  expect((await key.api.get('/v1/workspaces/current', { headers: { 'workspace-id': workspace.id } })).status).toBe(200)
  const foreign = (await stranger.api.get('/v1/workspaces/current')).body.workspace.id
  const refused = await key.api.get('/v1/workspaces/current', { headers: { 'workspace-id': foreign } })
  expect([refused.status, refused.body.error]).toEqual([404, 'not_found'])
})

describe('keys below keys', () => {
  test('are at most eight levels deep', async () => {
    let key: Pick<Key, 'api'> = await createKey(await signIn(service.api))
    for (let level = 2; level <= 8; level += 1) key = await createKey(key)
    const answer = await key.api.post('/v1/accounts/me/api-keys', { name: 'Ninth' })
    expect([answer.status, answer.body.details.reason]).toEqual([409, 'limit_reached'])
  })

  test('are at most a hundred living ones, also when they are made at once', async () => {
    const person = await signIn(service.api)
    const root = await createKey(person)
    const child = await createKey(root)
    await service.deps.db.query(
      `insert into grants select copy.* from grants g, generate_series(1, 94) n, jsonb_populate_record(g, jsonb_build_object('id', gen_random_uuid(), 'label', 'Key ' || n)) copy
       where g.id = $1`,
      [parseId('grant', child.grantId)],
    )
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? root : child).api.post('/v1/accounts/me/api-keys', { name: 'More' })),
    )
    expect(made.map(({ status }) => status).toSorted()).toEqual([...Array(5).fill(201), ...Array(5).fill(409)])
    expect(made.find(({ status }) => status === 409)?.body.details.reason).toBe('limit_reached')
    const revoked = made.find(({ status }) => status === 201)?.body.id
    expect((await person.api.delete(`/v1/accounts/me/api-keys/${revoked}`)).status).toBe(200)
    expect((await root.api.post('/v1/accounts/me/api-keys', { name: 'Again' })).status).toBe(201)
    expect((await createKey(person)).grantId).toBeTruthy()
  })
})
