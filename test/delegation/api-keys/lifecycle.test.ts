import { describe, expect, test } from 'vitest'
import { createKey, type Key, type Person, signIn } from '../../harness/people.ts'
import { openService } from '../../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
const stranger = await signIn(service.api)

const path = '/v1/accounts/me/api-keys'
const use = async (key: Key) => {
  const answer = await key.api.get('/v1/accounts/me')
  return answer.status === 200 ? 'works' : `${answer.status} ${answer.body.error}`
}
const later = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000).toISOString()
const rotate = async (creator: { api: Person['api'] }, key: Key, body?: unknown): Promise<Key> => {
  const answer = await creator.api.post(`${path}/${key.id}/rotate`, body)
  if (answer.status !== 201) throw new Error(`not rotated: ${answer.status} ${answer.text}`)
  return {
    id: answer.body.id,
    key: answer.body.key,
    grantId: answer.body.grant.id,
    api: service.api.as({ bearer: answer.body.key }),
  }
}
const eventsAbout = async (id: string) =>
  (
    await service.deps.db.query<{ type: string }>("select type from events where data->>'id' = $1 order by transaction, id", [id])
  ).map(({ type }) => type)
const auditAbout = async (action: string) =>
  (await service.deps.db.query<{ n: bigint }>('select count(*) as n from audit_log where action = $1', [action]))[0]?.n ?? 0n

describe('listing', () => {
  test("shows the caller's keys newest first, page by page, and no others", async () => {
    const owner = await signIn(service.api)
    await createKey(stranger)
    const made: string[] = []
    for (const name of ['one', 'two', 'three']) made.push((await createKey(owner, { name })).id)
    const first = await owner.api.get(`${path}?limit=2`)
    const second = await owner.api.get(`${path}?limit=2&cursor=${first.body.next_cursor}`)
    const ids = [...first.body.data, ...second.body.data].map((key: { id: string }) => key.id)
    expect(ids).toEqual(made.toReversed())
    expect(second.body.next_cursor).toBeNull()
    const stolen = await stranger.api.get(`${path}?cursor=${first.body.next_cursor}`)
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_cursor'])
  })

  test('through a key shows that key and its descendants only', async () => {
    const owner = await signIn(service.api)
    const root = await createKey(owner)
    await createKey(owner, { name: 'Sibling' })
    const child = await createKey(root)
    const grandchild = await createKey(child)
    const ids = async (key: Key) => (await key.api.get(path)).body.data.map((entry: { id: string }) => entry.id)
    expect(await ids(root)).toEqual([grandchild.id, child.id, root.id])
    expect(await ids(child)).toEqual([grandchild.id, child.id])
    expect(await ids(grandchild)).toEqual([grandchild.id])
  })
})

describe('what a caller may not see is answered like what does not exist', () => {
  test.each([
    ['get', (api: Person['api'], id: string) => api.get(`${path}/${id}`)],
    ['rename', (api: Person['api'], id: string) => api.patch(`${path}/${id}`, { name: 'Mine' })],
    ['rotate', (api: Person['api'], id: string) => api.post(`${path}/${id}/rotate`)],
    ['revoke', (api: Person['api'], id: string) => api.delete(`${path}/${id}`)],
  ])('%s', async (_, call) => {
    const parent = await createKey(person)
    const child = await createKey(parent)
    const sibling = await createKey(person)
    const unknown = await call(person.api, 'key_01h455vb4pex5vsknk084sn02q')
    expect([unknown.status, unknown.body.error]).toEqual([404, 'not_found'])
    for (const [api, id] of [
      [stranger.api, parent.id],
      [child.api, parent.id],
      [sibling.api, child.id],
      [parent.api, sibling.id],
      [person.api, 'nonsense'],
    ] as const) {
      const answer = await call(api, id)
      expect({ ...answer.body, details: {} }).toEqual({ ...unknown.body, details: {} })
      expect(answer.status).toBe(404)
    }
    expect([await use(parent), await use(child), await use(sibling)]).toEqual(['works', 'works', 'works'])
  })

  test('without a credential, or with one that lacks the permission, the answer reveals nothing', async () => {
    const key = await createKey(person)
    const reader = await createKey(person, { permissions: ['account.read'] })
    for (const call of [
      (api: Person['api']) => api.get(path),
      (api: Person['api']) => api.get(`${path}/${key.id}`),
      (api: Person['api']) => api.patch(`${path}/${key.id}`, { name: 'Mine' }),
      (api: Person['api']) => api.post(`${path}/${key.id}/rotate`),
      (api: Person['api']) => api.delete(`${path}/${key.id}`),
    ]) {
      const stranger = await call(service.api)
      expect([stranger.status, stranger.body.error]).toEqual([401, 'authentication_required'])
      const refused = await call(reader.api)
      expect([refused.status, refused.body.details.required_permission]).toEqual([403, 'key.manage'])
    }
  })
})

describe('changing', () => {
  test('of a name and spending controls applies from the next answer on: omitted fields stay, null removes', async () => {
    const key = await createKey(person, { spending_controls: { daily_limit_minor: '100', payment_types: ['rent'] } })
    const changed = await person.api.patch(`${path}/${key.id}`, {
      name: 'Renamed',
      spending_controls: { monthly_limit_minor: '900' },
    })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({ name: 'Renamed', grant: { label: 'Renamed' } })
    const merged = { daily_limit_minor: '100', monthly_limit_minor: '900', payment_types: ['rent'] }
    expect(changed.body.grant.spending_controls).toEqual(merged)
    expect((await key.api.get(`${path}/${key.id}`)).body.grant.spending_controls).toEqual(merged)
    const without = await person.api.patch(`${path}/${key.id}`, { spending_controls: { payment_types: null } })
    expect(without.body.grant.spending_controls).toEqual({ daily_limit_minor: '100', monthly_limit_minor: '900' })
    expect((await person.api.patch(`${path}/${key.id}`, {})).body.name).toBe('Renamed')
    expect(await eventsAbout(key.grantId)).toEqual(['grant.created', 'grant.updated', 'grant.updated'])
  })

  test('refuses limits that contradict each other', async () => {
    const key = await createKey(person)
    const refused = await person.api.patch(`${path}/${key.id}`, {
      spending_controls: { daily_limit_minor: '2', monthly_limit_minor: '1' },
    })
    expect([refused.status, refused.body.details.fields[0].path]).toEqual([400, 'spending_controls.daily_limit_minor'])
    const typo = await person.api.patch(`${path}/${key.id}`, { permissions: ['account.manage'] })
    expect([typo.status, typo.body.details.fields[0].path]).toEqual([400, 'permissions'])
  })

  test('of its own controls is refused to a key, which may rename itself and limit its descendants', async () => {
    const parent = await createKey(person, { spending_controls: { daily_limit_minor: '100' } })
    const child = await createKey(parent)
    const own = await parent.api.patch(`${path}/${parent.id}`, { spending_controls: {} })
    expect([own.status, own.body.error]).toEqual([403, 'forbidden'])
    expect((await parent.api.patch(`${path}/${parent.id}`, { name: 'Self' })).body.name).toBe('Self')
    const below = await parent.api.patch(`${path}/${child.id}`, { spending_controls: { daily_limit_minor: '7' } })
    expect([below.status, below.body.grant.headroom.today_minor]).toEqual([200, '7'])
    const wider = await parent.api.patch(`${path}/${child.id}`, { spending_controls: { daily_limit_minor: '100000' } })
    expect(wider.body.grant.headroom.today_minor).toBe('100')
  })
})

describe('rotating', () => {
  test('without an overlap ends the old key at once and keeps grant, limits and children', async () => {
    const key = await createKey(person, { name: 'Payroll', spending_controls: { daily_limit_minor: '5' } })
    const child = await createKey(key)
    const next = await rotate(person, key)
    expect(next.grantId).toBe(key.grantId)
    expect([await use(key), await use(next), await use(child)]).toEqual(['401 api_key_revoked', 'works', 'works'])
    expect((await person.api.get(`${path}/${next.id}`)).body).toMatchObject({
      name: 'Payroll',
      grant: { spending_controls: { daily_limit_minor: '5' } },
    })
    expect(await eventsAbout(key.id)).toEqual(['api_key.created', 'api_key.rotated'])
    expect(await eventsAbout(next.id)).toEqual(['api_key.created'])
  })

  test('with an overlap lets both keys work until it ends', async () => {
    const key = await createKey(person)
    const next = await rotate(person, key, { overlap_seconds: 600 })
    const old = await person.api.get(`${path}/${key.id}`)
    expect([old.body.status, old.body.revoked_at]).toEqual(['active', later(600)])
    expect([await use(key), await use(next)]).toEqual(['works', 'works'])
    service.clock.advance(600)
    expect([await use(key), await use(next)]).toEqual(['401 api_key_revoked', 'works'])
    expect((await person.api.get(`${path}/${key.id}`)).body.status).toBe('revoked')
  })

  test('with overlaps leaves at most a hundred keys of a grant active, and a hundred below one key', async () => {
    const owner = await signIn(service.api)
    const root = await createKey(owner)
    const overlapping = async (first: Key): Promise<Key> => {
      let newest = first
      for (let active = 1; active < 100; active += 1) newest = await rotate(owner, newest, { overlap_seconds: 600 })
      return newest
    }
    const last = [await overlapping(root), await overlapping(await createKey(root))]
    for (const key of last) {
      const refused = await owner.api.post(`${path}/${key.id}/rotate`, { overlap_seconds: 1 })
      expect([refused.status, refused.body.details.reason]).toEqual([409, 'limit_reached'])
      expect(await use(key)).toBe('works')
    }
    expect((await root.api.post(path, { name: 'One more' })).body.details.reason).toBe('limit_reached')
    const next = await rotate(owner, last[0] ?? root)
    service.clock.advance(600)
    await rotate(owner, next, { overlap_seconds: 600 })
    await rotate(owner, last[1] ?? root, { overlap_seconds: 600 })
    await createKey(next)
  })

  test('a revoked, expired or already rotated key is a conflict', async () => {
    const revoked = await createKey(person)
    await person.api.delete(`${path}/${revoked.id}`)
    const expired = await createKey(person, { expires_at: later(5) })
    service.clock.advance(5)
    const rotated = await createKey(person)
    await rotate(person, rotated, { overlap_seconds: 60 })
    for (const [key, reason] of [
      [revoked, 'revoked'],
      [expired, 'expired'],
      [rotated, 'rotated'],
    ] as const) {
      const answer = await person.api.post(`${path}/${key.id}/rotate`)
      expect([answer.status, answer.body.error, answer.body.details.reason]).toEqual([409, 'conflict', reason])
    }
  })

  test('by a key is allowed for its descendants, never for itself', async () => {
    const parent = await createKey(person)
    const child = await createKey(parent)
    const own = await parent.api.post(`${path}/${parent.id}/rotate`)
    expect([own.status, own.body.error]).toEqual([403, 'forbidden'])
    const next = await rotate(parent, child)
    expect([await use(child), await use(next)]).toEqual(['401 api_key_revoked', 'works'])
  })

  test('shows the new key once, and a replay creates no third one', async () => {
    const key = await createKey(person)
    const first = await person.api.post(`${path}/${key.id}/rotate`, {}, { key: 'rotate-once' })
    const again = await person.api.post(`${path}/${key.id}/rotate`, {}, { key: 'rotate-once' })
    expect([again.status, again.body.id, again.body.key]).toEqual([201, first.body.id, undefined])
  })

  test('keeps the end of the key', async () => {
    const key = await createKey(person, { expires_at: later(60) })
    const next = await rotate(person, key)
    service.clock.advance(60)
    expect(await use(next)).toBe('401 api_key_expired')
  })

  test.each([[-1], [86_401], [1.5], ['60']])('refuses an overlap of %j', async (overlap_seconds) => {
    const key = await createKey(person)
    expect((await person.api.post(`${path}/${key.id}/rotate`, { overlap_seconds })).status).toBe(400)
    expect(await use(key)).toBe('works')
  })
})

describe('revoking', () => {
  test('ends the key from the next request on; a repetition has the same answer', async () => {
    const key = await createKey(person)
    const before = await auditAbout('api_key.revoke')
    const first = await person.api.delete(`${path}/${key.id}`)
    expect([first.status, first.body.status, first.body.revoked_at]).toEqual([200, 'revoked', later(0)])
    expect(first.body.grant.revoked_at).toBe(later(0))
    expect(await use(key)).toBe('401 api_key_revoked')
    service.clock.advance(30)
    expect((await person.api.delete(`${path}/${key.id}`)).text).toBe(first.text)
    expect(await eventsAbout(key.id)).toEqual(['api_key.created', 'api_key.revoked'])
    expect(await eventsAbout(key.grantId)).toEqual(['grant.created', 'grant.revoked'])
    expect((await auditAbout('api_key.revoke')) - before).toBe(1n)
  })

  test('the last live key of a grant ends all that was delegated through it', async () => {
    const key = await createKey(person)
    const child = await createKey(key)
    const grandchild = await createKey(child)
    const other = await createKey(person)
    await person.api.delete(`${path}/${key.id}`)
    expect([await use(child), await use(grandchild), await use(other)]).toEqual([
      '401 api_key_revoked',
      '401 api_key_revoked',
      'works',
    ])
    for (const { id } of [child, grandchild]) expect(await eventsAbout(id)).toEqual(['api_key.created', 'api_key.revoked'])
    for (const { grantId } of [child, grandchild]) expect(await eventsAbout(grantId)).toEqual(['grant.created', 'grant.revoked'])
  })

  test('one of two live keys does not affect the grant and its children', async () => {
    const key = await createKey(person)
    const child = await createKey(key)
    const next = await rotate(person, key, { overlap_seconds: 600 })
    await person.api.delete(`${path}/${key.id}`)
    expect([await use(key), await use(next), await use(child)]).toEqual(['401 api_key_revoked', 'works', 'works'])
  })

  test('the new key while the old one overlaps: the old one still ends on time, and its children with it, not later', async () => {
    const key = await createKey(person)
    const child = await createKey(key)
    const next = await rotate(person, key, { overlap_seconds: 600 })
    await person.api.delete(`${path}/${next.id}`)
    expect([await use(key), await use(next), await use(child)]).toEqual(['works', '401 api_key_revoked', 'works'])
    const lateChild = await createKey(key)
    service.clock.advance(600)
    expect([await use(key), await use(child), await use(lateChild)]).toEqual([
      '401 api_key_revoked',
      '401 api_key_revoked',
      '401 api_key_expired',
    ])
    await service.deps.jobs.sweep()
    expect((await person.api.get(`${path}/${child.id}`)).body).toMatchObject({
      status: 'revoked',
      grant: { revoked_at: later(0) },
    })
    expect(await eventsAbout(child.id)).toEqual(['api_key.created', 'api_key.revoked'])
  })

  test('a key may revoke itself, and with it what it delegated', async () => {
    const key = await createKey(person)
    const child = await createKey(key)
    expect((await key.api.delete(`${path}/${key.id}`)).body.status).toBe('revoked')
    expect([await use(key), await use(child)]).toEqual(['401 api_key_revoked', '401 api_key_revoked'])
  })

  test('works in a frozen workspace, where nothing else about a key can be changed', async () => {
    const owner = await signIn(service.api)
    const key = await createKey(owner)
    await service.deps.db.query(
      'update workspaces set frozen_at = now() where owning_account_id = (select account_id from identities where subject = $1)',
      [owner.wallet.address],
    )
    const renamed = await owner.api.patch(`${path}/${key.id}`, { name: 'Late' })
    expect([renamed.status, renamed.body.error]).toEqual([403, 'workspace_frozen'])
    expect((await owner.api.delete(`${path}/${key.id}`)).status).toBe(200)
    expect(await use(key)).toBe('401 api_key_revoked')
  })
})

test('a key of a frozen workspace is not rotated or renamed, even from a session in another workspace', async () => {
  const owner = await signIn(service.api)
  const team = (await owner.api.post('/v1/workspaces', { name: 'Team' })).body.workspace
  const headers = { 'workspace-id': team.id }
  const { id } = (await owner.api.post(path, { name: 'Agent' }, { headers })).body
  expect((await owner.api.post('/v1/workspaces/current/freeze', {}, { headers })).status).toBe(200)
  const refused = [await owner.api.post(`${path}/${id}/rotate`), await owner.api.patch(`${path}/${id}`, { name: 'Late' })]
  expect(refused.map(({ status, body }) => [status, body.error])).toEqual(Array(2).fill([403, 'workspace_frozen']))
  expect((await owner.api.delete(`${path}/${id}`)).status).toBe(200)
})

describe('expiring', () => {
  test('refuses the key from that instant on, and the sweep revokes its grant and its descendants', async () => {
    const key = await createKey(person, { expires_at: later(100) })
    const child = await createKey(key)
    service.clock.advance(99)
    expect([await use(key), await use(child)]).toEqual(['works', 'works'])
    service.clock.advance(1)
    expect([await use(key), await use(child)]).toEqual(['401 api_key_expired', '401 api_key_expired'])
    expect((await person.api.get(`${path}/${key.id}`)).body).toMatchObject({ status: 'expired', grant: { revoked_at: null } })
    await service.deps.jobs.sweep()
    await service.deps.jobs.sweep()
    expect((await person.api.get(`${path}/${key.id}`)).body).toMatchObject({ status: 'expired', grant: { revoked_at: later(0) } })
    expect(await eventsAbout(key.grantId)).toEqual(['grant.created', 'grant.revoked'])
    expect([await use(key), await use(child)]).toEqual(['401 api_key_expired', '401 api_key_expired'])
  })

  test('an expired key can still be revoked, and says so afterwards', async () => {
    const key = await createKey(person, { expires_at: later(10) })
    service.clock.advance(10)
    expect((await person.api.delete(`${path}/${key.id}`)).body.status).toBe('revoked')
    expect(await use(key)).toBe('401 api_key_revoked')
  })

  test('a dashboard token never outlives the key that minted it', async () => {
    const key = await createKey(person, { expires_at: later(60) })
    const token = (await key.api.post('/v1/auth/dashboard-tokens')).body
    expect(token.expires_in).toBe(60)
    service.clock.advance(60)
    expect((await service.api.get('/v1/accounts/me', { bearer: token.token })).status).toBe(401)
  })
})

test('a wrong key with a known prefix, an unknown key and a malformed key get the same refusal', async () => {
  const { key } = await createKey(person)
  const wrong = key.slice(0, -4) + (key.endsWith('0000') ? '1111' : '0000')
  for (const bearer of [wrong, `service_live_${'0'.repeat(64)}`, 'service_live_short', key.toUpperCase(), `${key}0`]) {
    const answer = await service.api.get('/v1/accounts/me', { bearer })
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_token'])
  }
})
