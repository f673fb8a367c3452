import { describe, expect, test } from 'vitest'
import { createTestClock } from '../../harness/clock.ts'
import { createKey, type Key, type Person, signIn } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'

// 22:30 UTC on 31 March is 01:30 on 1 April in Nairobi: a new day and a new month there.
const service = await openService({ clock: createTestClock(new Date('2026-03-31T22:30:00.000Z')) })
const person = await signIn(service.api)
const stranger = await signIn(service.api)

const path = '/v1/accounts/me/grants'
type Api = Person['api']
/** A key that may manage grants: only a person can delegate this permission, so a chain contains it at most once, at its root. */
const manager = (creator: { api: Api }, fields: Record<string, unknown> = {}) =>
  createKey(creator, { permissions: ['account.read', 'key.manage', 'grant.manage', 'payment.create'], ...fields })
const works = async (key: Key) => (await key.api.get('/v1/accounts/me')).status === 200
const uuidOf = async (grantId: string): Promise<string> =>
  (
    await service.deps.db.query<{ id: string }>(
      "select subject_id as id from audit_log where action = 'grant.create' order by transaction desc, id desc limit 1",
    )
  )[0]?.id ?? grantId
const charge = (grant: string, period: string, start: string, used: string) =>
  service.deps.db.query(
    "insert into usage_counters (subject, subject_id, account_id, period, period_start, used_minor, payments) select 'grant', id, account_id, $2, $3, $4, 1 from grants where id = $1",
    [grant, period, start, used],
  )

describe('listing', () => {
  test('shows every grant of the account, newest first, with its chain', async () => {
    const owner = await signIn(service.api)
    const root = await createKey(owner, { name: 'Root' })
    const child = await createKey(root, { name: 'Child' })
    await createKey(stranger)
    const first = await owner.api.get(`${path}?limit=1`)
    const second = await owner.api.get(`${path}?limit=1&cursor=${first.body.next_cursor}`)
    expect(first.body.data).toMatchObject([
      { id: child.grantId, label: 'Child', parent_grant_id: root.grantId, kind: 'api_key', frozen: false },
    ])
    expect(second.body).toMatchObject({ data: [{ id: root.grantId, parent_grant_id: null }], next_cursor: null })
    expect((await owner.api.get(`${path}/${root.grantId}`)).body).toEqual(second.body.data[0])
  })

  test('shows the usage of the day and month, and the least that remains in the chain', async () => {
    const owner = await signIn(service.api)
    const root = await createKey(owner, { spending_controls: { daily_limit_minor: '1000', monthly_limit_minor: '2000' } })
    const rootId = await uuidOf(root.grantId)
    const child = await createKey(root, { spending_controls: { daily_limit_minor: '900', per_payment_limit_minor: '50' } })
    const childId = await uuidOf(child.grantId)
    await charge(rootId, 'day', '2026-04-01', '400')
    await charge(rootId, 'day', '2026-03-31', '999')
    await charge(rootId, 'month', '2026-04-01', '1900')
    await charge(childId, 'day', '2026-04-01', '1200')
    const list = (await owner.api.get(path)).body.data
    expect(list).toMatchObject([
      {
        id: child.grantId,
        usage: { today_minor: '1200', month_minor: '0' },
        headroom: { per_payment_minor: '50', today_minor: '0', month_minor: '100' },
      },
      {
        id: root.grantId,
        usage: { today_minor: '400', month_minor: '1900' },
        headroom: { per_payment_minor: null, today_minor: '600', month_minor: '100' },
      },
    ])
    // Before the next local midnight nothing changes. At midnight the day starts again.
    service.clock.set(new Date('2026-04-01T20:59:59.000Z'))
    expect((await owner.api.get(`${path}/${root.grantId}`)).body.usage.today_minor).toBe('400')
    service.clock.set(new Date('2026-04-01T21:00:00.000Z'))
    const { usage } = (await owner.api.get(`${path}/${root.grantId}`)).body
    expect(usage).toEqual({ today_minor: '0', month_minor: '1900', total_minor: '0' })
  })
})

describe('freezing', () => {
  test('stops a grant and its descendants without ending them: the credential still authenticates', async () => {
    const root = await createKey(person)
    const child = await createKey(root)
    const frozen = await person.api.patch(`${path}/${root.grantId}`, { frozen: true })
    expect([frozen.status, frozen.body.frozen, frozen.body.revoked_at]).toEqual([200, true, null])
    expect([await works(root), await works(child)]).toEqual([true, true])
    expect((await person.api.get(`${path}/${child.grantId}`)).body.frozen).toBe(false)
    expect((await person.api.patch(`${path}/${root.grantId}`, { frozen: true })).body).toEqual({
      ...frozen.body,
      last_used_at: expect.any(String),
    })
    expect((await person.api.patch(`${path}/${root.grantId}`, { frozen: false })).body.frozen).toBe(false)
    // Repeating the current limits changes nothing.
    const { spending_controls } = frozen.body
    expect((await person.api.patch(`${path}/${root.grantId}`, { spending_controls, frozen: false })).status).toBe(200)
    const events = await service.deps.db.query<{ frozen: boolean }>(
      "select (data->>'frozen')::boolean as frozen from events where type = 'grant.updated' and data->>'id' = $1 order by transaction, id",
      [root.grantId],
    )
    expect(events.map((event) => event.frozen)).toEqual([true, false])
  })

  test('and unfreezing is allowed to a delegated caller only for descendants of its own grant', async () => {
    const root = await manager(person)
    const child = await createKey(root)
    await person.api.patch(`${path}/${root.grantId}`, { frozen: true })
    await person.api.patch(`${path}/${child.grantId}`, { frozen: true })
    for (const frozen of [true, false]) {
      const own = await root.api.patch(`${path}/${root.grantId}`, { frozen })
      expect([own.status, own.body.error]).toEqual([403, 'forbidden'])
    }
    expect((await root.api.patch(`${path}/${child.grantId}`, { frozen: false })).body.frozen).toBe(false)
    expect((await person.api.get(`${path}/${root.grantId}`)).body.frozen).toBe(true)
  })

  test('is possible in a frozen workspace, but changing controls is not', async () => {
    const owner = await signIn(service.api)
    const key = await createKey(owner)
    await service.deps.db.query(
      'update workspaces set frozen_at = now() where owning_account_id = (select account_id from identities where subject = $1)',
      [owner.wallet.address],
    )
    expect((await owner.api.patch(`${path}/${key.grantId}`, { frozen: true })).body.frozen).toBe(true)
    const both = await owner.api.patch(`${path}/${key.grantId}`, { frozen: false, spending_controls: {} })
    expect([both.status, both.body.error]).toEqual([403, 'workspace_frozen'])
    expect((await owner.api.delete(`${path}/${key.grantId}`)).status).toBe(200)
  })
})

describe('changing controls', () => {
  test('keeps what the request leaves out, and removes what it sets to null', async () => {
    const key = await createKey(person, { spending_controls: { per_payment_limit_minor: '5', payment_types: ['rent'] } })
    const change = (spending_controls: Record<string, unknown>) =>
      person.api.patch(`${path}/${key.grantId}`, { spending_controls })
    const set = await change({ daily_limit_minor: '5' })
    expect(set.body).toMatchObject({ headroom: { today_minor: '5' }, frozen: false })
    expect(set.body.spending_controls).toEqual({ per_payment_limit_minor: '5', daily_limit_minor: '5', payment_types: ['rent'] })
    expect((await change({})).body.spending_controls).toEqual(set.body.spending_controls)
    const removed = await change({ payment_types: null, per_payment_limit_minor: null })
    expect(removed.body.spending_controls).toEqual({ daily_limit_minor: '5' })
  })

  test('refuses a limit that contradicts an existing one', async () => {
    const key = await createKey(person, { spending_controls: { daily_limit_minor: '5' } })
    const answer = await person.api.patch(`${path}/${key.grantId}`, { spending_controls: { per_payment_limit_minor: '6' } })
    expect([answer.status, answer.body.details.fields[0].path]).toEqual([400, 'spending_controls.per_payment_limit_minor'])
  })

  test('of its own grant is refused to a delegated caller, and of its descendants allowed', async () => {
    const root = await manager(person, { spending_controls: { daily_limit_minor: '10' } })
    const child = await createKey(root)
    const own = await root.api.patch(`${path}/${root.grantId}`, { spending_controls: {} })
    expect([own.status, own.body.error]).toEqual([403, 'forbidden'])
    expect(
      (await root.api.patch(`${path}/${child.grantId}`, { spending_controls: { daily_limit_minor: '3' } })).body.headroom
        .today_minor,
    ).toBe('3')
    expect((await root.api.get(path)).body.data.map((grant: { id: string }) => grant.id)).toEqual([child.grantId, root.grantId])
  })

  test('refuses a beneficiary that does not exist', async () => {
    const { grantId } = await createKey(person)
    const controls = { spending_controls: { beneficiary_ids: ['ben_01h455vb4pex5vsknk084sn02q'] } }
    const answer = await person.api.patch(`${path}/${grantId}`, controls)
    expect([answer.status, answer.body.details.field]).toEqual([404, 'spending_controls.beneficiary_ids'])
  })

  test('lets only a person raise or remove the total of a job; a key may lower it', async () => {
    const root = await manager(person)
    const child = await createKey(root, { spending_controls: { total_limit_minor: '100' } })
    const change = (api: Api, total_limit_minor: string | null) =>
      api.patch(`${path}/${child.grantId}`, { spending_controls: { total_limit_minor } })
    for (const total of ['101', null]) {
      const refused = await change(root.api, total)
      expect([refused.status, refused.body.error]).toEqual([403, 'forbidden'])
    }
    expect((await change(root.api, '90')).status).toBe(200)
    expect((await change(person.api, '200')).body.spending_controls).toMatchObject({ total_limit_minor: '200' })
  })

  test.each([
    [{ spending_controls: { payment_types: [] } }, 'spending_controls.payment_types'],
    [
      { spending_controls: { per_payment_limit_minor: '3', daily_limit_minor: '2' } },
      'spending_controls.per_payment_limit_minor',
    ],
    [{ frozen: 'yes' }, 'frozen'],
    [{ permissions: ['account.manage'] }, 'permissions'],
    [{ expires_at: '2030-01-01T00:00:00Z' }, 'expires_at'],
  ])('refuses %j', async (body, field) => {
    const { grantId } = await createKey(person)
    const answer = await person.api.patch(`${path}/${grantId}`, body)
    expect([answer.status, answer.body.details.fields.map((entry: { path: string }) => entry.path)]).toEqual([400, [field]])
  })

  test('of a revoked grant is a conflict', async () => {
    const { grantId } = await createKey(person)
    await person.api.delete(`${path}/${grantId}`)
    const answer = await person.api.patch(`${path}/${grantId}`, { frozen: true })
    expect([answer.status, answer.body.error]).toEqual([409, 'conflict'])
  })
})

describe('revoking', () => {
  test('ends the grant, its keys and its descendants from the next request on; a repetition has the same answer', async () => {
    const root = await createKey(person)
    const child = await createKey(root)
    const grandchild = await createKey(child)
    const sibling = await createKey(root)
    const first = await person.api.delete(`${path}/${child.grantId}`)
    expect([first.status, first.body.revoked_at]).toEqual([200, service.clock.now().toISOString()])
    expect([await works(root), await works(child), await works(grandchild), await works(sibling)]).toEqual([
      true,
      false,
      false,
      true,
    ])
    expect((await person.api.delete(`${path}/${child.grantId}`)).text).toBe(first.text)
    expect((await grandchild.api.get('/v1/accounts/me')).body.error).toBe('api_key_revoked')
    const published = await service.deps.db.query<{ type: string; n: bigint }>(
      "select type, count(*) as n from events where type in ('grant.revoked', 'api_key.revoked') and data->>'id' = any($1) group by type order by type",
      [[child.grantId, grandchild.grantId, child.id, grandchild.id]],
    )
    expect(published).toEqual([
      { type: 'api_key.revoked', n: 2n },
      { type: 'grant.revoked', n: 2n },
    ])
  })

  test('a dashboard token of a revoked key ends with it', async () => {
    const key = await createKey(person)
    const { token } = (await key.api.post('/v1/auth/dashboard-tokens')).body
    await person.api.delete(`${path}/${key.grantId}`)
    expect((await service.api.get('/v1/accounts/me', { bearer: token })).status).toBe(401)
  })
})

describe('what a caller may not see is answered like what does not exist', () => {
  const calls: [string, (api: Api, id: string) => Promise<{ status: number; body: { error: string } }>][] = [
    ['get', (api, id) => api.get(`${path}/${id}`)],
    ['freeze', (api, id) => api.patch(`${path}/${id}`, { frozen: true })],
    ['revoke', (api, id) => api.delete(`${path}/${id}`)],
  ]
  test.each(calls)('%s', async (_, call) => {
    const root = await manager(person)
    const other = await manager(person)
    const child = await createKey(root)
    const missing = await call(person.api, 'gra_01h455vb4pex5vsknk084sn02q')
    expect([missing.status, missing.body.error]).toEqual([404, 'not_found'])
    for (const [api, id] of [
      [stranger.api, root.grantId],
      [other.api, child.grantId],
      [other.api, root.grantId],
      [person.api, 'gra_1'],
    ] as const) {
      const answer = await call(api, id)
      expect([answer.status, { ...answer.body, details: {} }]).toEqual([404, { ...missing.body, details: {} }])
    }
    expect([await works(root), await works(child)]).toEqual([true, true])
  })

  test.each([...calls, ['list', (api: Api) => api.get(path)] as const])(
    '%s needs a credential with the permission',
    async (_, call) => {
      const key = await createKey(person)
      expect((await call(service.api, key.grantId)).status).toBe(401)
      const refused = await call(key.api, key.grantId)
      expect([refused.status, refused.body.error]).toEqual([403, 'forbidden'])
    },
  )
})
