import { expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn, signInThroughKey } from '../harness/people.ts'
import { sentDuring } from '../harness/sent.ts'
import { openService } from '../harness/service.ts'
import { createTeam, invite, join, memberIdOf, standIn, type Team } from './team.ts'

const service = await openService()
const other = await openService({ database: service.database, clock: service.clock })

const noSuchMember = 'mem_01h455vb4pex5vsknk084sn02q'
const at = (id: string) => `/v1/workspaces/current/members/${id}`

test('every member may list the members', async () => {
  const team = await createTeam(service)
  const viewer = await join(service, team, 'viewer')
  const { status, body } = await viewer.api.get('/v1/workspaces/current/members')
  expect(status).toBe(200)
  expect(body.data).toMatchObject([
    {
      id: viewer.memberId,
      account_id: viewer.accountId,
      wallet_address: viewer.wallet.address,
      role: 'viewer',
      status: 'active',
    },
    { account_id: team.owner.accountId, role: 'owner', status: 'active' },
  ])
})

test('a lowered role and a suspended membership apply from the next request of every credential', async () => {
  const team = await createTeam(service)
  const admin = await join(service, team, 'admin')
  const key = await createKey(admin, { permissions: ['workspace.read', 'workspace.manage'] })
  const dashboard = service.api.as({ bearer: (await admin.api.post('/v1/auth/dashboard-tokens')).body.token })
  const inTeam = { headers: { 'workspace-id': team.id } }
  const rename = () =>
    Promise.all([admin.api, key.api, dashboard].map((api) => api.patch('/v1/workspaces/current', { name: 'Renamed' }, inTeam)))
  expect((await rename()).map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await team.owner.api.patch(at(admin.memberId), { role: 'viewer' })).status).toBe(200)
  expect((await rename()).map(({ status, body }) => [status, body.error])).toEqual(Array(3).fill([403, 'forbidden']))
  expect((await team.owner.api.patch(at(admin.memberId), { status: 'suspended' })).status).toBe(200)
  const read = await Promise.all([admin.api, key.api, dashboard].map((api) => api.get('/v1/workspaces/current', inTeam)))
  expect(read.map(({ status, body }) => [status, body.membership.status])).toEqual(Array(3).fill([200, 'suspended']))
  expect((await rename()).map(({ status, body }) => [status, body.error])).toEqual(Array(3).fill([403, 'membership_suspended']))
  expect((await team.owner.api.patch(at(admin.memberId), { status: 'active', role: 'admin' })).status).toBe(200)
  expect((await rename()).map(({ status }) => status)).toEqual([200, 200, 200])
})

test.each([
  ['suspended', 'membership_suspended'],
  ['removed', 'forbidden'],
])('the sessions of a %s member are refused until they choose another workspace', async (end, error) => {
  const team = await createTeam(service)
  const member = await join(service, team, 'admin')
  const views = (await member.api.get('/v1/workspaces')).body.data
  const personal = views.find(({ workspace }: Json) => workspace.kind === 'personal').workspace.id
  const dashboard = service.api.as({ bearer: (await member.api.post('/v1/auth/dashboard-tokens')).body.token })
  if (end === 'suspended') await team.owner.api.patch(at(member.memberId), { status: 'suspended' })
  else await team.owner.api.delete(at(member.memberId))
  for (const api of [member.api, dashboard]) {
    const acts = await Promise.all([
      api.get('/v1/payments'),
      api.get('/v1/beneficiaries'),
      api.post('/v1/accounts/me/api-keys', { name: 'Agent' }),
      api.patch('/v1/accounts/me', { display_name: 'x' }),
      api.post('/v1/workspaces', { name: 'Another' }),
      api.get('/v1/notifications'),
      api.get('/v1/accounts/me/identities'),
    ])
    expect(acts.map(({ status, body }) => [status, body.error])).toEqual(acts.map(() => [403, error]))
    const current = await api.get('/v1/workspaces/current')
    expect([current.status, current.body.membership?.status ?? current.body.error]).toEqual(
      end === 'suspended' ? [200, 'suspended'] : [403, 'forbidden'],
    )
    expect((await api.get('/v1/workspaces')).status).toBe(200)
    const back = await api.put('/v1/workspaces/current', { workspace_id: team.id })
    expect([back.status, back.body.error]).toEqual(end === 'suspended' ? [403, error] : [404, 'not_found'])
    expect((await api.put('/v1/workspaces/current', { workspace_id: personal })).status).toBe(200)
    expect((await api.get('/v1/payments')).status).toBe(200)
  }
})

test('a session that lost its workspace can still log out', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'member')
  await team.owner.api.delete(at(member.memberId))
  expect((await member.api.post('/v1/auth/logout')).status).toBe(204)
  expect((await member.api.get('/v1/workspaces/current')).status).toBe(401)
})

test('a session begins in the workspace that its account opened last and is still a member of, whatever it read of others', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'member')
  const begins = async () =>
    (await (await signIn(service.api, member.wallet)).api.get('/v1/workspaces/current')).body.workspace.id
  expect(await begins()).toBe(team.id)
  const personal = (await member.api.get('/v1/workspaces')).body.data.find(({ workspace }: Json) => workspace.kind === 'personal')
  service.clock.advance(120)
  await member.api.get('/v1/approvals', { headers: { 'workspace-id': personal.workspace.id } })
  expect(await begins()).toBe(team.id)
  service.clock.advance(120)
  await member.api.get('/v1/workspaces/current', { headers: { 'workspace-id': personal.workspace.id } })
  expect(await begins()).toBe(personal.workspace.id)
  service.clock.advance(120)
  await standIn(member, team.id)
  expect(await begins()).toBe(team.id)
  await team.owner.api.patch(at(member.memberId), { status: 'suspended' })
  expect(await begins()).toBe(personal.workspace.id)
})

test('everything that a member delegated in the workspace ends with the membership, and nothing else does', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'member')
  const parent = await createKey(member)
  const child = await createKey(parent)
  const personal = (await member.api.get('/v1/workspaces')).body.data.find(
    (view: { workspace: { kind: string } }) => view.workspace.kind === 'personal',
  )
  await standIn(member, personal.workspace.id)
  const own = await createKey(member)
  const removed = await team.owner.api.delete(at(member.memberId))
  expect([removed.status, removed.body.status]).toEqual([200, 'removed'])
  for (const { api } of [parent, child]) {
    const answer = await api.get('/v1/accounts/me')
    expect([answer.status, answer.body.error]).toEqual([401, 'api_key_revoked'])
  }
  expect((await own.api.get('/v1/accounts/me')).status).toBe(200)
  expect((await team.owner.api.delete(at(member.memberId))).status).toBe(404)
})

test('every member may leave in person; a delegated credential cannot leave for its account', async () => {
  const team = await createTeam(service)
  const viewer = await join(service, team, 'viewer')
  const agent = await createKey(viewer)
  expect((await agent.api.delete(at(viewer.memberId))).status).toBe(403)
  expect((await viewer.api.delete(at(viewer.memberId))).status).toBe(200)
  expect((await viewer.api.get('/v1/workspaces')).body.data).toHaveLength(1)
})

test('only owners give and remove the role owner', async () => {
  const team = await createTeam(service)
  const admin = await join(service, team, 'admin')
  const second = await join(service, team, 'owner')
  const viewer = await join(service, team, 'viewer')
  const refused = await Promise.all([
    admin.api.patch(at(viewer.memberId), { role: 'owner' }),
    admin.api.patch(at(admin.memberId), { role: 'owner' }),
    admin.api.patch(at(second.memberId), { role: 'viewer' }),
    admin.api.patch(at(second.memberId), { status: 'suspended' }),
    admin.api.delete(at(second.memberId)),
    admin.api.post('/v1/workspaces/current/invitations', { role: 'owner' }),
  ])
  expect(refused.map(({ status, body }) => [status, body.error])).toEqual(Array(6).fill([403, 'forbidden']))
  expect((await admin.api.patch(at(viewer.memberId), { role: 'approver' })).status).toBe(200)
  expect((await second.api.patch(at(admin.memberId), { role: 'owner' })).status).toBe(200)
  expect((await admin.api.patch(at(second.memberId), { role: 'viewer' })).status).toBe(200)
})

test('the owning account stays an active owner', async () => {
  const team = await createTeam(service)
  const second = await join(service, team, 'owner')
  const owning = at(await memberIdOf(team.owner, team.owner.accountId))
  for (const { api } of [team.owner, second]) {
    const refused = await Promise.all([
      api.patch(owning, { role: 'admin' }),
      api.patch(owning, { status: 'suspended' }),
      api.delete(owning),
    ])
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual(Array(3).fill([409, 'last_owner']))
  }
})

test('when two owners remove each other at the same moment, one succeeds', async () => {
  const team = await createTeam(service)
  for (let round = 0; round < 5; round += 1) {
    const [a, b] = [await join(service, team, 'owner'), await join(service, team, 'owner')]
    const answers = await Promise.all([a.api.delete(at(b.memberId)), other.api.as({ cookie: b.cookie }).delete(at(a.memberId))])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const [loser] = answers.filter(({ status }) => status !== 200)
    // Removed before its turn: the answer is the same as for an unknown workspace.
    expect([403, 404]).toContain(loser?.status)
    const { body } = await team.owner.api.get('/v1/workspaces/current/members')
    const left = body.data.filter((member: { id: string }) => [a.memberId, b.memberId].includes(member.id))
    expect(left).toHaveLength(1)
    await team.owner.api.delete(at(left[0].id))
  }
})

test('when many owners demote and remove each other at once, the owning account stays an owner', async () => {
  const team = await createTeam(service)
  const owners = [await join(service, team, 'owner'), await join(service, team, 'owner'), await join(service, team, 'owner')]
  const owning = await memberIdOf(team.owner, team.owner.accountId)
  const ids = [owning, ...owners.map(({ memberId }) => memberId)]
  const answers = await Promise.all(
    [team.owner, ...owners].flatMap(({ cookie }, index) =>
      ids.flatMap((id) => {
        const { api } = index % 2 === 0 ? service : other
        return [api.as({ cookie }).patch(at(id), { role: 'viewer' }), api.as({ cookie }).delete(at(id))]
      }),
    ),
  )
  expect(answers.every(({ status }) => [200, 403, 404, 409].includes(status))).toBe(true)
  const { body } = await team.owner.api.get('/v1/workspaces/current/members')
  expect(
    body.data
      .filter((member: { role: string; status: string }) => member.role === 'owner' && member.status === 'active')
      .map(({ id }: { id: string }) => id),
  ).toContain(owning)
})

test('a delegated credential can remove permissions but never give them', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'member')
  const second = await join(service, team, 'owner')
  const agent = await createKey(team.owner, { permissions: ['workspace.read', 'workspace.manage'] })
  const refused = await Promise.all([
    agent.api.patch(at(member.memberId), { role: 'admin' }),
    agent.api.patch(at(member.memberId), { role: 'approver' }),
    agent.api.patch(at(second.memberId), { role: 'viewer' }),
    agent.api.delete(at(second.memberId)),
    agent.api.post('/v1/workspaces/current/invitations', { role: 'viewer' }),
  ])
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
  expect((await agent.api.patch(at(member.memberId), { status: 'suspended' })).status).toBe(200)
  expect((await agent.api.patch(at(member.memberId), { status: 'active' })).status).toBe(403)
  expect((await agent.api.patch(at(member.memberId), { role: 'viewer' })).status).toBe(200)
  expect((await agent.api.delete(at(member.memberId))).status).toBe(200)
})

test('a session of a wallet that a key linked can remove permissions like the key, but neither give them nor leave for its account', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'member')
  const second = await join(service, team, 'owner')
  const key = await createKey(second, { permissions: ['account.manage'] })
  const { api } = await signInThroughKey(service.api, key)
  const inTeam = { headers: { 'workspace-id': team.id } }
  const change = (id: string, body: object) => api.patch(at(id), body, inTeam)
  const refused = [
    await change(member.memberId, { role: 'admin' }),
    await change(member.memberId, { role: 'owner' }),
    await change(await memberIdOf(team.owner, team.owner.accountId), { role: 'viewer' }),
    await api.delete(at(second.memberId), inTeam),
  ]
  expect(refused.map(({ status, body }) => [status, body.error])).toEqual(Array(4).fill([403, 'forbidden']))
  expect((await change(member.memberId, { status: 'suspended' })).status).toBe(200)
  expect((await change(member.memberId, { status: 'active' })).status).toBe(403)
  expect((await api.delete(at(member.memberId), inTeam)).status).toBe(200)
})

test('a member of another workspace is the same 404 as none', async () => {
  const [ours, theirs] = [await createTeam(service), await createTeam(service)]
  const stranger = await join(service, theirs, 'viewer')
  for (const call of ['patch', 'delete']) {
    const answers = await Promise.all(
      [stranger.memberId, noSuchMember, 'mem_nonsense'].map((id) =>
        ours.owner.api.call(call.toUpperCase(), at(id), { ...(call === 'patch' && { body: { role: 'viewer' } }) }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(new Set(answers.map(({ text }) => text.replace(/"request_id":"[^"]*"/, ''))).size).toBe(1)
  }
})

test('a caller who may not manage the workspace changes no member', async () => {
  const team = await createTeam(service)
  const viewer = await join(service, team, 'viewer')
  for (const role of ['approver', 'member', 'viewer']) {
    const { api } = await join(service, team, role)
    expect((await api.patch(at(viewer.memberId), { role: 'owner' })).status).toBe(403)
    const removal = await api.delete(at(viewer.memberId))
    expect([removal.status, removal.body.details.required_permission]).toEqual([403, 'workspace.manage'])
  }
  for (const [method, path] of [
    ['GET', '/v1/workspaces/current/members'],
    ['PATCH', at(viewer.memberId)],
    ['DELETE', at(viewer.memberId)],
  ] as const) {
    expect((await service.api.call(method, path, { ...(method === 'PATCH' && { body: {} }) })).status).toBe(401)
  }
})

test('a membership has no other fields, roles or statuses', async () => {
  const team = await createTeam(service)
  const viewer = await join(service, team, 'viewer')
  for (const body of [{ role: 'root' }, { status: 'removed' }, { status: 'invited' }, { account_id: viewer.accountId }]) {
    expect((await team.owner.api.patch(at(viewer.memberId), body)).status).toBe(400)
  }
})

test('joining, changing and leaving are published, to the member concerned as well, and are in the audit log', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'member')
  await team.owner.api.patch(at(member.memberId), { role: 'viewer' })
  await member.api.delete(at(member.memberId))
  const events = await service.deps.db.query<{ type: string; status: string }>(
    `select type, data->>'status' as status from events where data->>'id' = $1 order by transaction, id`,
    [member.memberId],
  )
  expect(events.map(({ type, status }) => [type, status])).toEqual([
    ['member.joined', 'active'],
    ['member.updated', 'active'],
    ['member.removed', 'removed'],
  ])
  const audit = await service.deps.db.query<{ action: string; before: unknown; after: unknown }>(
    `select action, before, after from audit_log where subject_type = 'member' order by transaction desc, id desc limit 2`,
  )
  expect(audit).toMatchObject([
    { action: 'member.leave', before: { role: 'viewer' } },
    { action: 'member.update', before: { role: 'member' }, after: { role: 'viewer' } },
  ])
})

test('a freeze by who manages the workspace is lifted by such a person alone, also where the member had frozen the grant before', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'member')
  const admin = await join(service, team, 'admin')
  const { grantId } = await createKey(member)
  const set = ({ api }: typeof team.owner, frozen: boolean) => api.patch(`/v1/workspaces/current/grants/${grantId}`, { frozen })
  const setOwn = (frozen: boolean) => member.api.patch(`/v1/accounts/me/grants/${grantId}`, { frozen })
  const refused = async () => {
    const { status, body } = await setOwn(false)
    expect([status, body.error, body.message]).toEqual([403, 'forbidden', expect.stringContaining('an owner or administrator')])
  }
  expect((await set(team.owner, true)).body.frozen).toBe(true)
  await refused()
  expect((await setOwn(true)).body.frozen).toBe(true)
  await refused()
  expect((await set(admin, false)).body.frozen).toBe(false)
  expect((await setOwn(true)).body.frozen).toBe(true)
  expect((await setOwn(false)).body.frozen).toBe(false)
  await setOwn(true)
  await set(team.owner, true)
  await refused()
  await set(team.owner, false)
  const freezeAll = async ({ api }: typeof team.owner) => (await api.post('/v1/workspaces/current/grants/freeze')).body.frozen
  expect(await freezeAll(team.owner)).toBe(1)
  await refused()
  await set(team.owner, false)
  await setOwn(true)
  expect([await freezeAll(admin), await freezeAll(team.owner)]).toEqual([1, 0])
  await refused()
})

test('freezing all grants asks once who froze those that are frozen, and writes once, however many they are', async () => {
  const team = await createTeam(service)
  const members = [await join(service, team, 'member'), await join(service, team, 'member')]
  for (const member of members)
    for (const by of ['member', 'owner', 'nobody']) {
      const { grantId } = await createKey(member)
      if (by === 'member') await member.api.patch(`/v1/accounts/me/grants/${grantId}`, { frozen: true })
      if (by === 'owner') await team.owner.api.patch(`/v1/workspaces/current/grants/${grantId}`, { frozen: true })
    }
  let frozen = 0
  const { statements } = await sentDuring(async () => {
    frozen = (await team.owner.api.post('/v1/workspaces/current/grants/freeze')).body.frozen
  })
  expect(frozen).toBe(4)
  expect(statements.filter(({ text }) => text.includes("'frozen' = 'true'"))).toHaveLength(1)
  expect(statements.filter(({ text }) => /^update "?grants"?/i.test(text))).toHaveLength(1)
})

test('who manages a workspace sees, freezes and ends every grant in it, made by any member; no other caller does', async () => {
  const [team, foreign] = [await createTeam(service), await createTeam(service)]
  const member = await join(service, team, 'member')
  const admin = await join(service, team, 'admin')
  const key = await createKey(member)
  const theirs = await createKey(foreign.owner)
  const list = await team.owner.api.get('/v1/workspaces/current/grants')
  expect(list.body.data).toMatchObject([{ id: key.grantId, account_id: member.accountId, workspace_id: team.id }])
  const grant = (id: string) => `/v1/workspaces/current/grants/${id}`
  const agent = await createKey(team.owner, { permissions: ['workspace.read', 'workspace.manage'] })
  for (const { api } of [member, agent]) {
    expect((await api.get('/v1/workspaces/current/grants')).status).toBe(403)
    expect((await api.patch(grant(key.grantId), { frozen: true })).status).toBe(403)
    expect((await api.post('/v1/workspaces/current/grants/freeze')).status).toBe(403)
    expect((await api.delete(grant(key.grantId))).status).toBe(403)
  }
  expect((await admin.api.patch(grant(theirs.grantId), { frozen: true })).status).toBe(404)
  expect((await admin.api.patch(grant(key.grantId), { frozen: true })).body).toMatchObject({ id: key.grantId, frozen: true })
  expect((await admin.api.patch(grant(key.grantId), { frozen: false })).body.frozen).toBe(false)
  // Both of this workspace, and none of another.
  expect((await admin.api.post('/v1/workspaces/current/grants/freeze')).body).toEqual({ frozen: 2 })
  expect((await admin.api.post('/v1/workspaces/current/grants/freeze')).body).toEqual({ frozen: 0 })
  const frozenOf = async ({ api }: typeof team.owner) =>
    (await api.get('/v1/workspaces/current/grants')).body.data.map(({ frozen }: Json) => frozen)
  expect([await frozenOf(admin), await frozenOf(foreign.owner)]).toEqual([[true, true], [false]])
  expect((await service.api.get('/v1/workspaces/current/grants')).status).toBe(401)
  expect((await service.api.delete(grant(key.grantId))).status).toBe(401)
  expect((await team.owner.api.delete(grant(theirs.grantId))).status).toBe(404)
  const revoked = await team.owner.api.delete(grant(key.grantId))
  expect([revoked.status, revoked.body.account_id, revoked.body.revoked_at]).toEqual([
    200,
    member.accountId,
    service.clock.now().toISOString(),
  ])
  expect((await team.owner.api.delete(grant(key.grantId))).text).toBe(revoked.text)
  expect((await key.api.get('/v1/accounts/me')).body.error).toBe('api_key_revoked')
  expect((await theirs.api.get('/v1/accounts/me')).status).toBe(200)
})

test.each<[string, (team: Team, memberId: string, grantId: string) => Promise<unknown>]>([
  ['revokes the grant', ({ owner }, _, grantId) => owner.api.delete(`/v1/workspaces/current/grants/${grantId}`)],
  ['removes the member', ({ owner }, memberId) => owner.api.delete(at(memberId))],
])(
  'who %s cancels at once what a member asked for through a session that a key led to, in another workspace too',
  async (_how, end) => {
    const [team, elsewhere] = [await createTeam(service), await createTeam(service)]
    const member = await join(service, team, 'admin')
    await credit(service, elsewhere.id, 1_000_000n)
    await elsewhere.owner.api.post('/v1/spending-policies', { name: 'Ask', required_approval_count: 1 })
    const token = await invite(elsewhere.owner, { role: 'admin' })
    await member.api.post('/v1/workspaces/invitations/accept', { token })
    const key = await createKey(member, { permissions: ['account.read', 'account.manage'] })
    const session = await signInThroughKey(service.api, key)
    const inThat = { headers: { 'workspace-id': elsewhere.id } }
    const { body: derived } = await session.api.post('/v1/accounts/me/api-keys', { name: 'Derived' }, inThat)
    const input = { beneficiary_id: await newBeneficiary(elsewhere.owner.api), amount_minor: '1000' }
    const { body: payment } = await service.api.as({ bearer: derived.key }).post('/v1/payments', input)
    expect(payment.status).toBe('pending_approval')
    await end(team, member.memberId, key.grantId)
    expect((await elsewhere.owner.api.get(`/v1/payments/${payment.id}`)).body.status).toBe('cancelled')
  },
)

test('since when a member may decide is known without a break: a suspension or a role that may not decide begins it anew', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'approver')
  const since = async () => {
    const rows = await service.deps.db.query<{ since: Date | null }>(
      'select deciding_since as since from members where account_id = $1 and workspace_id = $2',
      [parseId('account', member.accountId), parseId('workspace', team.id)],
    )
    return rows[0]?.since?.getTime() ?? null
  }
  const change = async (body: object) => {
    service.clock.advance(60)
    const { status } = await team.owner.api.patch(`/v1/workspaces/current/members/${member.memberId}`, body)
    expect(status).toBe(200)
    return since()
  }
  const joined = await since()
  expect(joined).not.toBeNull()
  expect(await change({ role: 'admin' })).toBe(joined)
  expect(await change({ role: 'viewer' })).toBeNull()
  expect(await change({ role: 'approver' })).toBe(service.clock.now().getTime())
  expect(await change({ status: 'suspended' })).toBeNull()
  expect(await change({ status: 'active' })).toBe(service.clock.now().getTime())
})
