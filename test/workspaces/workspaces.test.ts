import { describe, expect, test } from 'vitest'
import type { Answer, Client, Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { createTeam, join, standIn } from './team.ts'

const service = await openService()

const noSuchWorkspace = 'wsp_01h455vb4pex5vsknk084sn02q'
const sameButRequestId = (text: string) => text.replace(/"request_id":"[^"]*"/, '')

test("a new workspace belongs to its creator, is listed newest first and pays from the creator's account", async () => {
  const person = await signIn(service.api)
  const made = await person.api.post('/v1/workspaces', { name: '  Ops  ', time_zone: 'Europe/Berlin' }, { key: 'one' })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    workspace: {
      name: 'Ops',
      kind: 'team',
      status: 'active',
      time_zone: 'Europe/Berlin',
      currency: 'KES',
      owning_account_id: person.accountId,
    },
    membership: { role: 'owner', status: 'active' },
  })
  const again = await person.api.post('/v1/workspaces', { name: '  Ops  ', time_zone: 'Europe/Berlin' }, { key: 'one' })
  expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([201, made.text, 'true'])
  const list = await person.api.get('/v1/workspaces')
  expect(list.body.data.map((view: { workspace: { kind: string } }) => view.workspace.kind)).toEqual(['team', 'personal'])
  const first = await person.api.get('/v1/workspaces?limit=1')
  const second = await person.api.get(`/v1/workspaces?limit=1&cursor=${first.body.next_cursor}`)
  expect([first.body.data[0].workspace.kind, second.body.data[0].workspace.kind, second.body.next_cursor]).toEqual([
    'team',
    'personal',
    null,
  ])
})

test('a workspace needs a name and an existing time zone, and its owner cannot be set by the request', async () => {
  const { api } = await signIn(service.api)
  for (const body of [
    {},
    { name: ' ' },
    { name: 'x'.repeat(121) },
    { name: 'A', time_zone: '+03:00' },
    { name: 'A', time_zone: 'Mars/Base' },
    { name: 'A', owning_account_id: 'acc_x' },
  ]) {
    expect((await api.post('/v1/workspaces', body)).status).toBe(400)
  }
})

test('a session stays in its workspace until it is switched; another session is not affected', async () => {
  const team = await createTeam(service)
  const elsewhere = await signIn(service.api, team.owner.wallet)
  const personal = (await elsewhere.api.get('/v1/workspaces')).body.data[1].workspace.id
  await standIn(elsewhere, personal)
  expect((await team.owner.api.get('/v1/workspaces/current')).body.workspace.id).toBe(team.id)
  expect((await elsewhere.api.get('/v1/workspaces/current')).body.workspace.kind).toBe('personal')
})

test('a dashboard token is switched without its session', async () => {
  const team = await createTeam(service)
  const { body } = await team.owner.api.post('/v1/auth/dashboard-tokens')
  const dashboard = service.api.as({ bearer: body.token })
  const personal = (await team.owner.api.get('/v1/workspaces')).body.data[1].workspace.id
  const switched = await dashboard.put('/v1/workspaces/current', { workspace_id: personal })
  expect([switched.status, switched.body.workspace.id]).toEqual([200, personal])
  expect((await dashboard.get('/v1/workspaces/current')).body.workspace.id).toBe(personal)
  expect((await team.owner.api.get('/v1/workspaces/current')).body.workspace.id).toBe(team.id)
})

test('a grant is bound to its workspace: it cannot be switched, and sees only its own in the list', async () => {
  const team = await createTeam(service)
  const key = await createKey(team.owner)
  const personal = (await team.owner.api.get('/v1/workspaces')).body.data[1].workspace.id
  const fromKey = service.api.as({ bearer: (await key.api.post('/v1/auth/dashboard-tokens')).body.token })
  for (const { put } of [key.api, fromKey]) {
    const answer = await put('/v1/workspaces/current', { workspace_id: personal })
    expect([answer.status, answer.body.error]).toEqual([403, 'forbidden'])
  }
  const list = await key.api.get('/v1/workspaces')
  expect(list.body.data.map((view: { workspace: { id: string } }) => view.workspace.id)).toEqual([team.id])
  const named = (id: string) => key.api.get('/v1/workspaces/current', { headers: { 'workspace-id': id } })
  expect((await named(team.id)).status).toBe(200)
  // The answer is the same for a workspace of the person, of another person and of nobody.
  for (const id of [personal, noSuchWorkspace]) {
    const { status, body } = await named(id)
    expect([status, body.error, body.details.field]).toEqual([404, 'not_found', 'Workspace-Id'])
  }
})

test('the header Workspace-Id names another of one’s workspaces for one request', async () => {
  const team = await createTeam(service)
  const personal = (await team.owner.api.get('/v1/workspaces')).body.data[1].workspace.id
  const named = await team.owner.api.get('/v1/workspaces/current', { headers: { 'workspace-id': personal } })
  expect([named.status, named.body.workspace.id]).toEqual([200, personal])
  expect((await team.owner.api.get('/v1/workspaces/current')).body.workspace.id).toBe(team.id)
})

test('another account’s workspace and an unknown one get the same 404, by header and by switch; a malformed id is a 400', async () => {
  const team = await createTeam(service)
  const stranger = await signIn(service.api)
  const dashboard = service.api.as({ bearer: (await stranger.api.post('/v1/auth/dashboard-tokens')).body.token })
  for (const { get, put } of [stranger.api, dashboard]) {
    const byHeader = await Promise.all(
      [team.id, noSuchWorkspace].map((id) => get('/v1/accounts/me', { headers: { 'workspace-id': id } })),
    )
    const bySwitch = await Promise.all(
      [team.id, noSuchWorkspace].map((id) => put('/v1/workspaces/current', { workspace_id: id })),
    )
    expect([...byHeader, ...bySwitch].map(({ status }) => status)).toEqual([404, 404, 404, 404])
    expect(byHeader[0]?.body.details.field).toBe('Workspace-Id')
    expect(bySwitch[0]?.body.details.field).toBe('workspace_id')
    for (const id of ['', 'nonsense']) {
      const { status, body } = await get('/v1/accounts/me', { headers: { 'workspace-id': id } })
      expect([status, body.error, body.details.param]).toEqual([400, 'invalid_request', 'Workspace-Id'])
    }
    for (const answers of [byHeader, bySwitch]) expect(new Set(answers.map(({ text }) => sameButRequestId(text))).size).toBe(1)
  }
  const badToken = await service.api.get('/v1/accounts/me', { headers: { 'workspace-id': noSuchWorkspace }, cookie: 'nothing' })
  expect([badToken.status, badToken.body.error]).toEqual([401, 'invalid_token'])
})

test("the 404 of an id names the caller's own workspace, the same for a record of another one and for none", async () => {
  const team = await createTeam(service)
  const stranger = await signIn(service.api)
  const path = `/v1/spending-policies/${(await team.owner.api.post('/v1/spending-policies', { name: 'A rule' })).body.id}`
  const personal = (await team.owner.api.get('/v1/workspaces')).body.data[1].workspace.id
  const elsewhere = await team.owner.api.get(path, { headers: { 'workspace-id': personal } })
  const foreign = await stranger.api.get(path)
  const none = await stranger.api.get('/v1/spending-policies/pol_01h455vb4pex5vsknk084sn02q')
  for (const { status, body } of [elsewhere, foreign, none])
    expect([status, body.message]).toEqual([404, 'There is no such resource in the workspace "Personal".'])
  expect(sameButRequestId(foreign.text)).toBe(sameButRequestId(none.text))
})

test('a new name applies at once, a new time zone from the next local month; setting the old one again undoes it', async () => {
  const { owner } = await createTeam(service)
  const answer = await owner.api.patch('/v1/workspaces/current', { name: 'Renamed', time_zone: 'Pacific/Auckland' })
  const next = {
    name: 'Renamed',
    time_zone: 'Pacific/Auckland',
    time_zone_from: '2026-03-31T21:00:00.000Z',
    previous_time_zone: 'Africa/Nairobi',
  }
  expect(answer.body.workspace).toMatchObject(next)
  expect((await owner.api.get('/v1/workspaces/current')).body.workspace).toMatchObject(next)
  const stored = async () =>
    (
      await service.deps.db.query<{ time_zone: string; next_time_zone: string | null; next_time_zone_from: Date | null }>(
        "select time_zone, next_time_zone, next_time_zone_from from workspaces where name = 'Renamed'",
      )
    )[0]
  // March has ended in Nairobi (UTC+3), after April has begun in Auckland.
  expect(await stored()).toEqual({
    time_zone: 'Africa/Nairobi',
    next_time_zone: 'Pacific/Auckland',
    next_time_zone_from: new Date('2026-03-31T21:00:00Z'),
  })
  await owner.api.patch('/v1/workspaces/current', { time_zone: 'Africa/Nairobi' })
  expect(await stored()).toEqual({ time_zone: 'Africa/Nairobi', next_time_zone: null, next_time_zone_from: null })
  expect((await owner.api.get('/v1/workspaces/current')).body.workspace).toMatchObject({
    time_zone: 'Africa/Nairobi',
    time_zone_from: null,
    previous_time_zone: null,
  })
})

test('what a workspace has already makes no event', async () => {
  const { owner } = await createTeam(service)
  const { name, time_zone } = (await owner.api.get('/v1/workspaces/current')).body.workspace
  const updates = async () => (await owner.api.get('/v1/notifications?type=workspace.updated&limit=100')).body.data.length
  const before = await updates()
  const same = await owner.api.patch('/v1/workspaces/current', { name, time_zone })
  expect([same.status, same.body.workspace.name, await updates()]).toEqual([200, name, before])
  await owner.api.patch('/v1/workspaces/current', { name: `${name} again`, time_zone })
  expect(await updates()).toBe(before + 1)
})

test('a frozen workspace cannot be changed, and can be read, frozen again and unfrozen', async () => {
  const team = await createTeam(service)
  const viewer = await join(service, team, 'viewer')
  const frozen = await team.owner.api.post('/v1/workspaces/current/freeze', { reason: 'a lost laptop' })
  expect([frozen.status, frozen.body.workspace.status]).toEqual([200, 'frozen'])
  expect((await team.owner.api.post('/v1/workspaces/current/freeze')).status).toBe(200)
  const refused = await Promise.all([
    team.owner.api.patch('/v1/workspaces/current', { name: 'Other' }),
    team.owner.api.post('/v1/workspaces/current/invitations', { role: 'viewer' }),
    team.owner.api.patch(`/v1/workspaces/current/members/${viewer.memberId}`, { role: 'member' }),
    team.owner.api.post('/v1/accounts/me/api-keys', { name: 'Agent' }),
  ])
  expect(refused.map(({ status, body }) => [status, body.error])).toEqual(Array(4).fill([403, 'workspace_frozen']))
  expect((await team.owner.api.get('/v1/workspaces/current')).status).toBe(200)
  expect((await team.owner.api.delete(`/v1/workspaces/current/members/${viewer.memberId}`)).status).toBe(200)
  const thawed = await team.owner.api.post('/v1/workspaces/current/unfreeze')
  expect([thawed.status, thawed.body.workspace.status]).toEqual([200, 'active'])
  expect((await team.owner.api.patch('/v1/workspaces/current', { name: 'Other' })).status).toBe(200)
})

test('a delegated credential can freeze a workspace but not unfreeze it', async () => {
  const { owner } = await createTeam(service)
  const agent = await createKey(owner, { permissions: ['workspace.read', 'workspace.manage'] })
  expect((await agent.api.post('/v1/workspaces/current/freeze')).status).toBe(200)
  expect((await agent.api.post('/v1/workspaces/current/unfreeze')).status).toBe(403)
  expect((await owner.api.post('/v1/workspaces/current/unfreeze')).status).toBe(200)
})

test('every change of a workspace is published to its members and is in the audit log', async () => {
  const team = await createTeam(service, 'Told')
  await team.owner.api.patch('/v1/workspaces/current', { name: 'Told twice' })
  await team.owner.api.post('/v1/workspaces/current/freeze', { reason: 'drill' })
  await team.owner.api.post('/v1/workspaces/current/unfreeze')
  const events = await service.deps.db.query<{ type: string }>(
    "select type from events where data->>'id' = $1 order by transaction, id",
    [team.id],
  )
  expect(events.map(({ type }) => type)).toEqual([
    'workspace.updated',
    'workspace.updated',
    'workspace.frozen',
    'workspace.unfrozen',
  ])
  const audit = await service.deps.db.query<{ action: string; after: unknown }>(
    "select action, after from audit_log where workspace_id = (select id from workspaces where name = 'Told twice') order by transaction, id",
  )
  expect(audit.map(({ action }) => action)).toEqual([
    'workspace.create',
    'workspace.switch',
    'workspace.update',
    'workspace.freeze',
    'workspace.unfreeze',
  ])
  expect(audit[3]?.after).toEqual({ reason: 'drill' })
})

test('without a credential every route of workspaces is 401', async () => {
  const calls: ['get' | 'post' | 'put' | 'patch', string][] = [
    ['get', '/v1/workspaces'],
    ['post', '/v1/workspaces'],
    ['get', '/v1/workspaces/current'],
    ['put', '/v1/workspaces/current'],
    ['patch', '/v1/workspaces/current'],
    ['post', '/v1/workspaces/current/freeze'],
    ['post', '/v1/workspaces/current/unfreeze'],
  ]
  for (const [method, path] of calls) {
    const answer = await service.api.call(method.toUpperCase(), path, { ...(method !== 'get' && { body: {} }) })
    expect([method, path, answer.status, answer.body.error]).toEqual([method, path, 401, 'authentication_required'])
  }
})

test('a member who may only read a workspace cannot change it', async () => {
  const team = await createTeam(service)
  for (const role of ['approver', 'member', 'viewer']) {
    const { api } = await join(service, team, role)
    const refused = await Promise.all([
      api.patch('/v1/workspaces/current', { name: 'Mine' }),
      api.post('/v1/workspaces/current/freeze'),
      api.post('/v1/workspaces/current/unfreeze'),
      api.post('/v1/workspaces', { name: 'Mine' }),
    ])
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect(refused[0]?.body.details.required_permission).toBe('workspace.manage')
    expect((await api.get('/v1/workspaces/current')).body.membership).toEqual({ role, status: 'active' })
  }
})

test('a viewer of a team creates a workspace by naming their personal one', async () => {
  const team = await createTeam(service)
  const viewer = await join(service, team, 'viewer')
  const personal = (await viewer.api.get('/v1/workspaces')).body.data.find(
    (view: { workspace: { kind: string } }) => view.workspace.kind === 'personal',
  ).workspace.id
  expect((await viewer.api.post('/v1/workspaces', { name: 'Mine' }, { headers: { 'workspace-id': personal } })).status).toBe(201)
  await standIn(viewer, personal)
  expect((await viewer.api.post('/v1/workspaces', { name: 'Mine too' })).status).toBe(201)
})

describe('the audit log of a workspace', () => {
  const log = (person: { api: Client }, query = '') => person.api.get(`/v1/workspaces/current/audit-log${query}`)
  const actionsOf = ({ body }: Answer) => body.data.map(({ action }: Json) => action)

  test('shows its managers every act in it, newest first, filtered by action, actor and time', async () => {
    const team = await createTeam(service)
    const admin = await join(service, team, 'admin')
    const began = service.clock.now().toISOString()
    service.clock.advance(60)
    const key = await createKey(admin, { permissions: ['workspace.read', 'workspace.manage'] })
    await key.api.patch('/v1/workspaces/current', { name: 'Renamed' })
    await admin.api.patch('/v1/accounts/me', { display_name: 'Somebody' })
    const all = await log(team.owner)
    expect(all.status).toBe(200)
    expect(actionsOf(all).slice(0, 2)).toEqual(['workspace.update', 'api_key.create'])
    expect(all.body.data[0]).toMatchObject({
      action: 'workspace.update',
      account_id: admin.accountId,
      grant_id: key.grantId,
      workspace_id: team.id,
      subject: { type: 'workspace', id: team.id },
      after: { name: 'Renamed' },
    })
    expect(actionsOf(all)).not.toContain('account.update')
    expect(new Set(actionsOf(await log(team.owner, '?action=invitation.')))).toEqual(
      new Set(['invitation.create', 'invitation.accept']),
    )
    const byAdmin = await log(team.owner, `?actor=${admin.accountId}`)
    expect(new Set(byAdmin.body.data.map(({ account_id }: Json) => account_id))).toEqual(new Set([admin.accountId]))
    expect(actionsOf(await log(team.owner, `?created_before=${began}&action=workspace.update`))).toEqual([])
    expect(actionsOf(await log(key, `?created_after=${began}&action=workspace.update`))).toEqual(['workspace.update'])
    const first = await log(team.owner, '?limit=1')
    expect(actionsOf(await log(team.owner, `?limit=1&cursor=${first.body.next_cursor}`))).toEqual(['api_key.create'])
    const ofKey = await log(team.owner, `?subject_id=${key.grantId}`)
    expect(actionsOf(ofKey)).toEqual(['grant.create'])
    expect((await log(team.owner, '?subject_id=x')).status).toBe(400)
    expect((await log(team.owner, '?actr=x')).status).toBe(400)
  })

  test('has no act of a member on their own account, whichever workspace the member works in', async () => {
    const team = await createTeam(service)
    const viewer = await join(service, team, 'viewer')
    const keys = { p256dh: service.deps.push?.publicKey, auth: Buffer.alloc(16, 1).toString('base64url') }
    const endpoint = 'http://localhost:9/push'
    const subscription = await viewer.api.post('/v1/accounts/me/push-subscriptions', { endpoint, keys })
    expect([subscription.status, subscription.text]).toEqual([201, expect.anything()])
    await viewer.api.delete(`/v1/accounts/me/push-subscriptions/${subscription.body.id}`)
    await viewer.api.patch('/v1/accounts/me/notification-settings', { language: 'sw' })
    await viewer.api.post('/v1/auth/dashboard-tokens')
    expect(actionsOf(await log(team.owner, `?actor=${viewer.accountId}`))).toEqual(['invitation.accept'])
    expect(actionsOf(await log(team.owner)).filter((action: string) => action.startsWith('push_'))).toEqual([])
  })

  test('shows the first payment of a batch at its approval, also beside the batch’s other payments', async () => {
    const owner = await signIn(service.api)
    await credit(service, owner.accountId, 10_000_000n)
    await owner.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
    const items = [await newBeneficiary(owner.api), await newBeneficiary(owner.api), await newBeneficiary(owner.api)]
    const batch = await owner.api.post('/v1/payment-batches', {
      items: items.map((beneficiary_id, index) => ({ beneficiary_id, amount_minor: `${index + 1}000` })),
    })
    await owner.api.post(`/v1/approvals/${batch.body.approval_id}/decide`, { decision: 'approve' })
    await service.settle()
    const { data } = (await log(owner)).body
    const amounts = (entries: Json[]) => new Set(entries.flatMap(({ payment }) => payment?.amount_minor ?? []))
    expect(amounts(data)).toEqual(new Set(['1000', '2000', '3000']))
    expect(amounts(data.filter(({ action }: Json) => action.startsWith('approval.')))).toEqual(new Set(['1000']))
  })

  test('is shown only to members who may manage it, and has nothing of another workspace', async () => {
    const team = await createTeam(service)
    const viewer = await join(service, team, 'viewer')
    expect((await service.api.get('/v1/workspaces/current/audit-log')).status).toBe(401)
    const refused = await log(viewer)
    expect([refused.status, refused.body.details.required_permission]).toEqual([403, 'audit.read'])
    const stranger = await signIn(service.api)
    expect(JSON.stringify((await log(stranger)).body)).not.toContain(team.id)
    const foreign = await stranger.api.get('/v1/workspaces/current/audit-log', { headers: { 'workspace-id': team.id } })
    expect(foreign.status).toBe(404)
  })
})

test('a key whose limits count by the day cannot move the time zone that its day is counted in', async () => {
  const owner = await signIn(service.api)
  const permissions = ['workspace.manage', 'workspace.read']
  const limited = await createKey(owner, { permissions, spending_controls: { daily_limit_minor: '100000' } })
  const refused = await limited.api.patch('/v1/workspaces/current', { time_zone: 'Pacific/Auckland' })
  expect([refused.status, refused.body.error]).toEqual([403, 'forbidden'])
  expect((await limited.api.patch('/v1/workspaces/current', { name: 'Renamed by a key' })).status).toBe(200)
  const free = await createKey(owner, { permissions, spending_controls: { per_payment_limit_minor: '100000' } })
  expect((await free.api.patch('/v1/workspaces/current', { time_zone: 'Pacific/Auckland' })).status).toBe(200)
})
